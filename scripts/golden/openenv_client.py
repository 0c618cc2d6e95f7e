"""Plays episodes against `whetstone serve --openenv` with openenv's own client (package `openenv`).

    python3 scripts/golden/openenv_client.py URL TOKEN TASK PATCH SESSIONS

Each session plays the task twice at the same time as the others: once with PATCH (a file: a unified diff that mends it) and once
without. Prints one line of JSON: the rewards, what the steps answered, and what a session too many was told.
"""

import asyncio
import json
import pathlib
import sys

from openenv.core.generic_client import GenericEnvClient


async def play(env, task, calls):
    result = await env.reset(task_id=task, seed=1)
    assert result.observation["task_id"] == task and not result.done
    roles = [message["role"] for message in result.observation["messages"]]
    tools = [tool["function"]["name"] for tool in result.observation["tools"]]
    answers = []
    for call in calls:
        assert not result.done
        result = await env.step({"tool_calls": [call]})
        answers += [message["content"] for message in result.observation["messages"]]
    state = await env.state()
    return {
        "roles": roles,
        "tools": tools,
        "answers": answers,
        "done": result.done,
        "reward": result.reward,
        "resolved": result.observation["grade"]["resolved"],
        "steps": state["step_count"],
    }


async def session(url, headers, task, patch, number):
    async with GenericEnvClient(base_url=url, headers=headers, message_timeout_s=300) as env:
        # A file of its own in each session: no other one may see it.
        mark = {"name": "run_command", "arguments": {"command": f"ls mark-* 2>/dev/null; touch mark-{number}"}}
        submit = {"name": "submit", "arguments": {}}
        mended = await play(env, task, [mark, {"name": "apply_patch", "arguments": {"patch": patch}}, submit])
        broken = await play(env, task, [mark, submit])
        return {"mended": mended, "broken": broken}


async def main():
    url, token, task, patch, sessions = sys.argv[1:]
    headers = {"Authorization": f"Bearer {token}"}
    text = pathlib.Path(patch).read_text()
    played = await asyncio.gather(*(session(url, headers, task, text, n) for n in range(int(sessions))))
    refused = []
    async with GenericEnvClient(base_url=url, headers=headers) as env:
        for action in ({"tool_calls": [], "text": "both"}, {"tool_calls": []}):
            try:
                await env.step(action)
            except RuntimeError as error:
                refused.append(str(error))
    try:
        async with GenericEnvClient(base_url=url, headers={"Authorization": "Bearer wrong"}) as env:
            await env.reset()
    except ConnectionError as error:
        refused.append(str(error).rsplit(":", 1)[-1].strip())
    print(json.dumps({"played": played, "refused": refused}))


asyncio.run(main())
