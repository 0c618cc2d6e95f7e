"""Trains the TRL project of `whetstone cluster init` on a Ray cluster of two nodes on this machine, on the CPU:

    python scripts/ray/two_nodes.py REPO [TOKENIZER_FOLDER]

with trl 1.16, peft, openenv 0.10.0 and ray[default,train] installed, Whetstone built, and a repository that has tasks. The model
is a tiny Qwen3 with random weights, so nothing is learned: what is tried is that each node has a process, that both play through
the server, and that the adapter that comes out is played by `whetstone eval`. Prints one line of JSON. Everything it starts
ends with it. It all happens in a network namespace with nothing but its loopback (root). Slow (minutes), so no part of the tests.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import trl
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

root = pathlib.Path(__file__).parents[2]
repo = pathlib.Path(sys.argv[1]).resolve()
tokenizer_folder = sys.argv[2] if len(sys.argv) > 2 else root / "test-fixtures/text/qwen3"
cli = ["node", str(root / "dist/cli.cjs")]
ray = str(pathlib.Path(sys.executable).parent / "ray")
started = []


def start(command, **options):
    process = subprocess.Popen(command, start_new_session=True, **options)
    started.append(process)
    return process


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, seconds=120):
    for _ in range(seconds):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(1)
    raise SystemExit("Ray's head did not come up.")


def make_model(folder):
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    # TRL knows how calls are read from this template by its text.
    tokenizer.chat_template = (pathlib.Path(trl.__file__).parent / "chat_templates/qwen3.jinja").read_text()
    tokenizer.save_pretrained(folder)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)


def run(folder):
    model, project, output = folder / "model", folder / "project", folder / "output"
    make_model(model)
    server = start([*cli, "serve", "--openenv", "--repo", str(repo), "--port", "0", "--sessions", "8", "--json"], stdout=subprocess.PIPE, text=True)
    url = json.loads(server.stdout.readline())["url"]
    init = [*cli, "cluster", "init", "--engine", "trl", "--repo", str(repo), "--model", str(model), "--out", str(project)]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
    config = json.loads((project / "grpo.json").read_text())
    config.update(max_steps=2, num_generations=2, per_device_train_batch_size=2, gradient_accumulation_steps=1)
    config.update(max_completion_length=64, max_tool_calling_iterations=2, logging_steps=1)
    (project / "grpo.json").write_text(json.dumps(config))

    port, dashboard = free_port(), free_port()
    temporary = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    common = ["--node-ip-address", "127.0.0.1", "--num-cpus", "2", "--block"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "RAY_DISABLE_IMPORT_WARNING": "1"}}
    head = ["--head", "--port", str(port), "--dashboard-host", "127.0.0.1", "--dashboard-port", str(dashboard), "--temp-dir", temporary]
    start([ray, "start", *head, *common], **quiet)
    wait_for(dashboard)
    start([ray, "start", "--address", f"127.0.0.1:{port}", *common], **quiet)
    time.sleep(10)
    environment = {"WHETSTONE_URL": url, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    # A busy machine takes its time to import.
    environment["RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S"] = "600"
    train = [sys.executable, "train.py", "--cpu", "--lora-rank", "4", "--ray-workers", "2", "--output", str(output)]
    job = [ray, "job", "submit", "--address", f"http://127.0.0.1:{dashboard}", "--working-dir", str(project)]
    job += ["--runtime-env-json", json.dumps({"env_vars": environment}), "--", *train]
    with open(folder / "job.log", "w") as log:
        code = subprocess.run(job, stdout=log, stderr=subprocess.STDOUT, timeout=900).returncode
    text = (folder / "job.log").read_text()
    if code != 0:
        raise SystemExit(f"The job failed:\n{text[-6000:]}")
    nodes = {line.split("on node ")[1].split()[0] for line in text.splitlines() if "on node " in line}

    history = json.loads((output / "trainer_state.json").read_text())["log_history"]
    evaluated = subprocess.run(
        [*cli, "eval", "--repo", str(repo), "--model", str(output), "--json"], stdout=subprocess.PIPE, text=True
    )
    return {
        "nodes": len(nodes),
        "steps": [{key: entry[key] for key in ("step", "reward", "loss", "num_tokens") if key in entry} for entry in history if "reward" in entry],
        "files": sorted(path.name for path in output.iterdir() if path.is_file()),
        "evaluated": json.loads(evaluated.stdout)["success"] if evaluated.returncode == 0 else None,
    }


if os.environ.get("TWO_NODES_APART") != "1":
    # Ray takes the machine's own address where there is one, whatever it is told.
    apart = ["unshare", "--net", "bash", "-c", 'ip link set lo up && exec "$@"', "two_nodes", sys.executable, *sys.argv]
    os.execvpe(apart[0], apart, {**os.environ, "TWO_NODES_APART": "1"})

with tempfile.TemporaryDirectory() as folder:
    try:
        print(json.dumps(run(pathlib.Path(folder))))
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
