"""Writes the splits as verl reads them: python make_data.py"""

import json
import pathlib

import pyarrow
import pyarrow.parquet

here = pathlib.Path(__file__).parent


def row(index, line):
    return {
        "data_source": "whetstone",
        "agent_name": "whetstone",
        "prompt": line["prompt"],
        "reward_model": {"style": "rule", "ground_truth": line["task_id"]},
        "extra_info": {"index": index, "task_id": line["task_id"], "split": line["split"]},
    }


def main():
    lines = [json.loads(line) for line in (here / "prompts.jsonl").read_text().splitlines()]
    for split in ("train", "heldout"):
        rows = [row(index, line) for index, line in enumerate(lines) if line["split"] == split]
        if not rows:
            raise SystemExit(f"There is no {split} task, and verl wants both: see `whetstone tasks build`.")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), here / f"{split}.parquet")
        print(f"{split}.parquet: {len(rows)} tasks")


if __name__ == "__main__":
    main()
