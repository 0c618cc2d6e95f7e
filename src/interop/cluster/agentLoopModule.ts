/**
 * A Python module with the agent loop that verl plays episodes with: our server is the environment, verl's own builder puts
 * the tokens together, and the mask is 1 on what was sampled.
 */
export const agentLoopModule = (
  maxTokensPerTurn: number,
  sessions: number,
): string => `"""An agent loop of verl's that plays Whetstone's tasks: what a turn does happens in \`whetstone serve --openenv\`.

WHETSTONE_URL and WHETSTONE_TOKEN say where that is; WHETSTONE_SESSIONS how many episodes one agent worker plays at once.
With WHETSTONE_RECORD, a folder, every episode is a line of its own there, for \`whetstone runs import\`.
"""

import asyncio
import json
import os
from uuid import uuid4

from openenv.core.generic_client import GenericEnvClient
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput, register
from verl.utils.profiler import simple_timer

MAX_TOKENS_PER_TURN = ${maxTokensPerTurn}
ATTEMPTS = 3
sessions = asyncio.Semaphore(int(os.environ.get("WHETSTONE_SESSIONS", "${sessions}")))


class MachineFailed(Exception):
    """The environment failed, not the policy: the episode is played again, and never counts as a reward of 0."""


@register("whetstone")
class WhetstoneAgentLoop(AgentLoopBase):
    async def run(self, sampling_params, **kwargs):
        task_id = kwargs["extra_info"]["task_id"]
        for attempt in range(ATTEMPTS):
            try:
                async with sessions:
                    output = await self._play(task_id, sampling_params)
                self._record(task_id, output)
                return output
            except MachineFailed:
                if attempt == ATTEMPTS - 1:
                    raise
                await asyncio.sleep(2**attempt)

    async def _play(self, task_id, sampling_params):
        token = os.environ.get("WHETSTONE_TOKEN")
        client = GenericEnvClient(
            base_url=os.environ.get("WHETSTONE_URL", "http://127.0.0.1:8000"),
            headers={"Authorization": f"Bearer {token}"} if token else None,
            message_timeout_s=600,
        )
        try:
            started = (await self._ask(client.reset(task_id=task_id))).observation
            return await self._play_turns(client, started["messages"], started["tools"], sampling_params)
        finally:
            await client.close()

    async def _play_turns(self, client, messages, tools, sampling_params):
        request_id = uuid4().hex
        timing = {}
        room = self.rollout_config.response_length
        prompt = await self.ct_build_initial_tokens(messages, tools=tools)
        tokens, mask, logprobs = list(prompt), [], []
        turns = 0
        reward = None
        while reward is None:
            limits = {"max_tokens": min(MAX_TOKENS_PER_TURN, room - len(mask))}
            with simple_timer("generate_sequences", timing):
                sampled = await self.server_manager.generate(
                    request_id=request_id, prompt_ids=tokens, sampling_params={**sampling_params, **limits}
                )
            turns += 1
            merged, mask, logprobs = await self.ct_merge_assistant_token(
                tokens, sampled.token_ids, mask, logprobs, assistant_logprobs=sampled.log_probs or [0.0] * len(sampled.token_ids)
            )
            tokens = merged.token_ids
            # A turn that the end of the room cut is not whole: it is not played.
            if len(mask) >= room:
                reward = await self._finish(client)
                break
            text = self.tokenizer.decode(sampled.token_ids, skip_special_tokens=True)
            with simple_timer("tool_calls", timing):
                played = await self._ask(client.step({"text": text}))
            if played.done:
                reward = played.reward
                break
            before = [*messages, {"role": "assistant", "content": text}]
            messages = before + [self._observation(message) for message in played.observation["messages"]]
            merged, extended, longer = await self.ct_merge_context_msg(before, messages, tokens, mask, logprobs, tools=tools)
            if len(extended) >= room:
                reward = await self._finish(client)
                break
            tokens, mask, logprobs = merged.token_ids, extended, longer
        return AgentLoopOutput(
            prompt_ids=tokens[: len(tokens) - len(mask)],
            response_ids=tokens[len(tokens) - len(mask) :],
            response_mask=mask,
            response_logprobs=logprobs if sampling_params.get("logprobs") else None,
            reward_score=reward,
            num_turns=2 * turns,
            metrics=AgentLoopMetrics(**timing),
        )

    async def _finish(self, client):
        return (await self._ask(client.step({"finish": True}))).reward

    @staticmethod
    async def _ask(answer):
        try:
            return await answer
        except Exception as error:
            raise MachineFailed(str(error)) from error

    @staticmethod
    def _observation(message):
        return {key: message[key] for key in ("role", "content", "name", "tool_call_id")}

    @staticmethod
    def _record(task_id, output):
        folder = os.environ.get("WHETSTONE_RECORD")
        if not folder:
            return
        os.makedirs(folder, exist_ok=True)
        line = {"instance_id": task_id, **output.model_dump(mode="json", exclude_none=True)}
        with open(os.path.join(folder, f"episodes-{os.getpid()}.jsonl"), "a") as file:
            file.write(json.dumps(line) + "\\n")
`;
