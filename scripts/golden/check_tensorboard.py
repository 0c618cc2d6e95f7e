"""Checks that TensorBoard's own reader finds in an exported event file what the exported CSV holds.

Run where tensorboard can be imported (no TensorFlow needed):
    whetstone runs export RUN --format tensorboard --out tb && whetstone runs export RUN --format csv --out csv
    python scripts/golden/check_tensorboard.py tb/RUN csv/RUN.csv
"""

import csv
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder, table = sys.argv[1:]
accumulator = EventAccumulator(folder, size_guidance={"scalars": 0})
accumulator.Reload()
found = {(tag, event.step): event.value for tag in accumulator.Tags()["scalars"] for event in accumulator.Scalars(tag)}
with open(table, newline="") as file:
    wanted = {(name, int(row["step"])): float(value) for row in csv.DictReader(file)
              for name, value in row.items() if name != "step" and value != ""}
assert found.keys() == wanted.keys(), found.keys() ^ wanted.keys()
for key, value in wanted.items():
    # Event files hold single precision.
    assert abs(found[key] - value) <= 1e-6 * max(1, abs(value)), (key, found[key], value)
print(f"{len(accumulator.Tags()['scalars'])} metrics, {len(found)} points: all the same")
