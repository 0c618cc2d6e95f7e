"""Gives exports of Whetstone to the code of the systems that they are for.

    node scripts/golden/exports.mjs                    writes src/interop/export/golden/*.json
    python3 scripts/golden/check_exports.py FORMAT FILE

FILE is one of those documents. Needs, by format: swebench, swesmith and datasets: `swebench`; harbor and atif: `harbor`;
verifiers: `verifiers`; trl: `trl` (which needs torch and transformers); openai: `openai`. Prints one line of JSON with
what the neighbour read; exits with 3 where its package is missing.
"""

import json
import pathlib
import sys
import tempfile


def swebench(document):
    from swebench.harness.utils import get_predictions_from_file, load_swebench_dataset
    from swebench.types import SWEbenchInstance

    with tempfile.TemporaryDirectory() as folder:
        tasks = pathlib.Path(folder, "tasks.jsonl")
        tasks.write_text(json.dumps(document["instance"]) + "\n")
        predictions = pathlib.Path(folder, "predictions.jsonl")
        predictions.write_text(json.dumps(document["prediction"]) + "\n")
        (instance,) = load_swebench_dataset(str(tasks), instance_ids=[document["instance"]["instance_id"]])
        (prediction,) = get_predictions_from_file(str(predictions), str(tasks), "test")
    assert set(SWEbenchInstance.__annotations__) == set(instance), "fields differ"
    assert all(isinstance(value, str) for value in instance.values()), "every field is a text"
    return {
        "fail_to_pass": json.loads(instance["FAIL_TO_PASS"]),
        "prediction": sorted(prediction),
    }


def swesmith(document):
    # Its harness grades by these fields of an instance and reads them from a list or from JSON lines.
    from datasets import Dataset

    row = Dataset.from_list([document])[0]
    assert isinstance(row["FAIL_TO_PASS"], list) and isinstance(row["PASS_TO_PASS"], list)
    return {"fields": sorted(row)}


def harbor(document):
    from harbor.models.task.task import Task

    with tempfile.TemporaryDirectory() as folder:
        for name, text in document.items():
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        task = Task(folder)
        assert Task.is_valid_dir(folder), "not a valid task"
        return {
            "name": task.name,
            "instruction": task.instruction.splitlines()[0],
            "agent_seconds": task.config.agent.timeout_sec,
            "verifier_seconds": task.config.verifier.timeout_sec,
        }


def verifiers(document):
    from verifiers.v1 import WireTrace
    from verifiers.v1.task import WireTaskData

    task = WireTaskData.model_validate(document["task"])
    trace = WireTrace.model_validate(document["trace"])
    return {
        "task": task.name,
        "reward": trace.reward,
        "branches": [
            {
                "token_ids": branch.token_ids,
                "sampled": [int(bit) for bit in branch.sampled_mask],
                "logprobs": branch.logprobs,
                "advantages": branch.advantages,
            }
            for branch in trace.branches
        ],
    }


def trl(document):
    from datasets import Dataset
    from trl.data_utils import is_conversational

    assert is_conversational(document["prompt"])
    shapes = []
    for row in document["trajectories"]:
        assert is_conversational(row), "not conversational"
        Dataset.from_list([{"prompt": row["prompt"]}])
        for message in row["completion"]:
            for call in message.get("tool_calls", []):
                assert isinstance(call["function"]["arguments"], dict)
        shapes.append([message["role"] for message in row["prompt"] + row["completion"]])
    return {"roles": shapes}


def openai(document):
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
    from pydantic import TypeAdapter

    messages = TypeAdapter(list[ChatCompletionMessageParam])
    tools = TypeAdapter(list[ChatCompletionToolParam])
    for row in document:
        messages.validate_python(row["messages"])
        tools.validate_python(row["tools"])
    return {"roles": [[message["role"] for message in row["messages"]] for row in document]}


def atif(document):
    from harbor.models.trajectories import Trajectory

    read = [Trajectory.model_validate(one) for one in document]
    return {
        "steps": [[step.source for step in one.steps] for one in read],
        "observations": [
            [len(step.observation.results) for step in one.steps if step.observation] for one in read
        ],
    }


def main():
    name, file = sys.argv[1:]
    checks = {check.__name__: check for check in (swebench, swesmith, harbor, verifiers, trl, openai, atif)}
    document = json.loads(pathlib.Path(file).read_text())
    try:
        print(json.dumps(checks[name](document)))
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(3)


main()
