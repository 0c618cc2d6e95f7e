import type { ToolSchema } from '../../trajectory/message.js';

/**
 * A Python module with the environment as TRL's `environment_factory` takes it: each public method is a tool, with types and
 * docstring made of our schemas; `reset` starts an episode, `get_reward` ends it and gives its reward.
 */
export function environmentModule(tools: readonly ToolSchema[]): string {
  return `"""Whetstone's tasks as an environment of TRL: what a method does happens in \`whetstone serve --openenv\`."""

import os

from openenv.core.generic_client import GenericEnvClient


class Whetstone:
    def __init__(self):
        token = os.environ.get("WHETSTONE_TOKEN")
        self._client = GenericEnvClient(
            base_url=os.environ.get("WHETSTONE_URL", "http://127.0.0.1:8000"),
            headers={"Authorization": f"Bearer {token}"} if token else None,
            message_timeout_s=600,
        ).sync()
        self._is_over = True
        self._reward = None

    def reset(self, task_id, **_):
        self._client.reset(task_id=task_id)
        self._is_over = False
        self._reward = None

    def get_reward(self):
        if not self._is_over:
            self._step({"finish": True})
        return self._reward

    def _call(self, name, **arguments):
        if self._is_over:
            return "The episode is over."
        given = {key: value for key, value in arguments.items() if value is not None}
        return self._play([{"name": name, "arguments": given}])

    def _play(self, calls):
        result = self._step({"tool_calls": calls, "content": ""})
        return "\\n".join(message["content"] for message in result.observation["messages"])

    def _step(self, action):
        result = self._client.step(action)
        self._is_over = result.done
        if result.done:
            self._reward = result.reward
        return result

${tools.map(methodOf).join('\n')}`;
}

interface Property {
  readonly type?: string;
  readonly items?: { readonly type?: string };
}

function methodOf({ function: { name, description, parameters } }: ToolSchema): string {
  const properties = Object.entries((parameters.properties ?? {}) as Readonly<Record<string, Property>>);
  const required = new Set((parameters.required ?? []) as readonly string[]);
  // Python wants those without a default first.
  const ordered = [...properties].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const parameter = ([key, property]: [string, Property]) =>
    required.has(key) ? `${key}: ${pythonType(property)}` : `${key}: ${pythonType(property)} | None = None`;
  const signature = ['self', ...ordered.map(parameter)].join(', ');
  const passed = ordered.map(([key]) => `, ${key}=${key}`).join('');
  const text = description.replaceAll('\\', '\\\\').replaceAll('"""', "'''");
  const lines = [
    `    def ${name}(${signature}) -> str:`,
    `        """${text}`,
    ...(ordered.length === 0
      ? []
      : ['', '        Args:', ...ordered.map(([key]) => `            ${key}: As said above.`)]),
    '        """',
    `        return self._call(${JSON.stringify(name)}${passed})`,
    '',
  ];
  return lines.join('\n');
}

const pythonTypes: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

function pythonType({ type = 'string', items }: Property): string {
  return type === 'array' ? `list[${pythonTypes[items?.type ?? 'string']}]` : (pythonTypes[type] ?? 'str');
}
