"""Tries a project of `whetstone cluster init --engine verl` against verl's own code, as far as that goes without a GPU:

    python scripts/golden/verl_project.py PROJECT TOKENIZER_FOLDER PATCH_FILE TASK_ID

with verl 0.9.1, openenv 0.10.0 and pyarrow, WHETSTONE_URL and WHETSTONE_TOKEN naming a server of the tasks. Prints one line of
JSON: that the settings are verl's (every key, and its own checks of them), that the splits are read by its dataset, and
what its agent worker gets for an episode whose turns are said here: ids, mask, log-probabilities, reward.
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys

import hydra
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf
from transformers import AutoTokenizer
from verl.experimental.agent_loop import agent_loop as verl_loop
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

project, tokenizer_folder, patch_file, task_id = sys.argv[1:]
sys.path.insert(0, project)


def leaves(config, prefix=""):
    for key, value in config.items():
        path = f"{prefix}{key}"
        yield from leaves(value, f"{path}.") if isinstance(value, dict) else [path]


def read_config():
    own = OmegaConf.to_container(OmegaConf.load(f"{project}/whetstone.yaml"))
    own.pop("defaults")
    with initialize_config_module("verl.trainer.config", version_base=None):
        base = OmegaConf.to_container(compose("ppo_trainer"), resolve=False)
    unknown = sorted(set(leaves(own)) - set(leaves(base)))
    # What the README's command would train with.
    command = [sys.executable, "-m", "verl.trainer.main_ppo", "--config-dir", ".", "--config-name", "whetstone", "--cfg", "job"]
    shown = subprocess.run(command, cwd=project, check=True, stdout=subprocess.PIPE, text=True).stdout
    config = OmegaConf.create(shown[shown.index("actor_rollout_ref:") :])
    same = all(OmegaConf.select(config, path) == OmegaConf.select(OmegaConf.create(own), path) for path in leaves(own))
    checked = [omega_conf_to_dataclass(config.actor_rollout_ref[name]) for name in ("actor", "rollout")]
    checked.append(omega_conf_to_dataclass(config.algorithm))
    return config, {"unknown": unknown, "taken": same, "checked": [type(one).__name__ for one in checked]}


class Server:
    """Says the turns one after the other, as if it had sampled them."""

    def __init__(self, tokenizer, turns):
        self.turns = [tokenizer.encode(turn, add_special_tokens=False) for turn in turns]
        self.prompts = []

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        ids = self.turns[len(self.prompts)][: sampling_params["max_tokens"]]
        self.prompts.append(list(prompt_ids))
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids))


def call(name, **values):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': values})}\n</tool_call><|im_end|>"


async def play(config, tokenizer, turns):
    server = Server(tokenizer, turns)
    loop = hydra.utils.instantiate(
        config=OmegaConf.load(f"{project}/agent_loops.yaml")[0],
        trainer_config=verl_loop.DictConfigWrap(config=config),
        server_manager=server,
        tokenizer=tokenizer,
        processor=None,
        dataset_cls=RLHFDataset,
        data_config=verl_loop.DictConfigWrap(config=config.data),
        hf_model_type="qwen3",
    )
    output = await loop.run({"logprobs": True}, extra_info={"task_id": task_id})
    whole = output.prompt_ids + output.response_ids
    scores = output.as_dict()["rm_scores"]
    masked = [token for token, bit in zip(output.response_ids, output.response_mask) if bit]
    return {
        "type": type(output).__name__,
        "reward": round(output.reward_score, 9),
        "sampledIsMasked": masked == [token for turn in server.turns for token in turn][: len(masked)],
        "masked": tokenizer.decode(masked),
        "unmasked": tokenizer.decode([token for token, bit in zip(output.response_ids, output.response_mask) if not bit]),
        "everyPromptIsAPrefix": all(whole[: len(prompt)] == prompt for prompt in server.prompts),
        "lengths": len({len(output.response_ids), len(output.response_mask), len(output.response_logprobs)}) == 1,
        "unsampledLogprobs": sorted({p for p, bit in zip(output.response_logprobs, output.response_mask) if not bit}),
        "rewardOnLastToken": scores.nonzero().tolist() == [[len(output.response_ids) - 1]],
        "turns": output.num_turns,
        "response": len(output.response_ids),
    }


def main():
    config, settings = read_config()
    subprocess.run([sys.executable, "make_data.py"], cwd=project, check=True, stdout=sys.stderr)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    OmegaConf.set_struct(config, False)
    rows = {
        split: RLHFDataset(f"{project}/{file}", tokenizer, config.data)
        for split, file in (("train", "train.parquet"), ("heldout", "heldout.parquet"))
    }
    import agent_loop

    # The patches that are said here may be longer than what a policy is given.
    agent_loop.MAX_TOKENS_PER_TURN = 2000
    registered = verl_loop._agent_loop_registry["whetstone"]["_target_"]
    with open(patch_file) as file:
        patch = file.read()
    mended = asyncio.run(play(config, tokenizer, [call("open", path="sum.js"), call("apply_patch", patch=patch), call("submit")]))
    said = asyncio.run(play(config, tokenizer, ["Nothing to do.<|im_end|>"]))
    # The window: no second turn fits behind the first answer.
    config.actor_rollout_ref.rollout.response_length = mended["response"] // 3
    cut = asyncio.run(play(config, tokenizer, [call("apply_patch", patch=patch), call("open", path="sum.js"), call("submit")]))
    print(
        json.dumps(
            {
                "settings": settings,
                "registered": registered,
                "rows": {split: len(data) for split, data in rows.items()},
                "row": {key: rows["train"][0][key] for key in ("agent_name", "data_source")},
                "prompt": [message["role"] for message in rows["train"][0]["raw_prompt"]],
                "episodes": {"mended": mended, "said": said, "cut": cut},
                "recorded": [len(file.read_text().splitlines()) for file in pathlib.Path(os.environ["WHETSTONE_RECORD"]).iterdir()],
            }
        )
    )


if __name__ == "__main__":
    main()
