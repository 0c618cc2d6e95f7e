"""Writes test-fixtures/interop/: trajectories as each neighbour's own code writes them.

    python3 scripts/golden/foreign_files.py FORMAT [SOURCE]

FORMAT: mini-swe-agent, inspect, verifiers (need the packages mini-swe-agent, inspect-ai, verifiers); verl SOURCE (its
verl/trainer/ppo/ray_trainer.py, whose dump is run by itself); swe-agent SOURCE (a .traj of its repository, which is under
the MIT licence; long texts are cut).
"""

import ast
import json
import os
import pathlib
import sys
import tempfile

out = pathlib.Path(__file__).resolve().parents[2] / "test-fixtures" / "interop"


def mini_swe_agent(_):
    os.environ["MSWEA_SILENT_STARTUP"] = "1"
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.test_models import DeterministicToolcallModel, make_toolcall_output

    def turn(content, command, number):
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": command})},
        }
        return make_toolcall_output(content, [call], [{"command": command, "tool_call_id": call["id"]}])

    model = DeterministicToolcallModel(
        outputs=[
            turn("Let me look.", "echo 'one é' && false", 1),
            turn(None, "printf 'COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\\ndiff --git a/x b/x\\n'", 2),
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        agent = DefaultAgent(
            model,
            LocalEnvironment(cwd=folder),
            system_template="You fix bugs.",
            instance_template="{{task}}",
            cost_limit=10,
        )
        agent.run("A test fails.")
        text = json.dumps(agent.serialize(), indent=1).replace(folder, "/work").replace(os.path.expanduser("~"), "/home/ada")
    document = json.loads(text)
    document["info"].get("config", {}).pop("environment", None)
    write("mini-swe-agent.traj.json", document)


def inspect(_):
    import tiktoken

    class Characters:
        """In the place of an encoding that would have to be downloaded; tokens are only counted."""

        def encode(self, text, **_):
            return list(text)

    tiktoken.get_encoding = lambda _: Characters()
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def add():
        async def execute(x: int, y: int):
            """Adds.

            Args:
                x: First.
                y: Second.
            """
            return x + y

        return execute

    model = get_model(
        "mockllm/model",
        custom_outputs=[
            ModelOutput.for_tool_call("mockllm/model", "add", {"x": 1, "y": 2}),
            ModelOutput.from_content("mockllm/model", "It is 3."),
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        task = Task(
            dataset=[Sample(id="sum", input="What is 1 + 2?", target="3")],
            solver=[use_tools(add()), generate()],
            scorer=includes(),
            name="sums",
        )
        (log,) = eval(task, model=model, log_dir=folder, display="none", log_format="eval")
        log = read_eval_log(log.location)
        for sample in log.samples:
            sample.events = []
            sample.attachments = {}
        log.eval.packages = {"inspect_ai": log.eval.packages["inspect_ai"]}
        log.eval.revision = None
        log.eval.task_file = None
        log.location = ""
        write_eval_log(log, str(out / "inspect.eval"), format="eval")
        write_eval_log(log, str(out / "inspect.json"), format="json")


def verifiers(source):
    """`source`: the export of a trajectory, which comes back as verifiers records it."""
    from verifiers.v1 import WireTrace

    trace = WireTrace.model_validate(json.loads(pathlib.Path(source).read_text())["trace"])
    (out / "verifiers.jsonl").write_text(json.dumps(trace.to_record()) + "\n")


def verl(source):
    tree = ast.parse(pathlib.Path(source).read_text())
    (method,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "_write_generations"]
    method.decorator_list = []
    names = {"os": os, "json": json}
    exec(compile(ast.Module([method], []), source, "exec"), names)
    names["_write_generations"](
        ["system\nYou fix bugs.\nuser\nA test fails.\nassistant\n"] * 2,
        ["<tool_call>\n{\"name\": \"submit\", \"arguments\": {}}\n</tool_call>", "I give up."],
        ["sums__1"] * 2,
        [1.0, 0.0],
        {"uid": ["sums__1", "sums__1"]},
        str(out),
        7,
    )
    (out / "7.jsonl").rename(out / "verl.jsonl")


def swe_agent(source):
    def cut(value):
        if isinstance(value, str) and not value.startswith("\r\ndiff --git"):
            return value if len(value) <= 400 else value[:400] + "…"
        if isinstance(value, list):
            return [cut(one) for one in value]
        if isinstance(value, dict):
            return {key: cut(one) for key, one in value.items() if key not in ("replay_config", "query")}
        return value

    write("swe-agent.traj", cut(json.loads(pathlib.Path(source).read_text())))


def write(name, document):
    (out / name).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


name, source = [*sys.argv[1:], None][:2]
{"mini-swe-agent": mini_swe_agent, "inspect": inspect, "verifiers": verifiers, "verl": verl, "swe-agent": swe_agent}[name](source)
