"""Golden data for src/trainer/algorithm/overlong.test.ts: TRL's own soft overlong punishment.

Run where trl 1.16 can be imported:
    python scripts/golden/overlong.py > src/trainer/algorithm/golden/overlong.json
"""

import json

from trl.rewards import get_soft_overlong_punishment

cases = []
for most, buffer in [(100, 20), (8, 4), (1000, 1)]:
    lengths = sorted({0, most - buffer, most - buffer + 1, most - 1, most, most + 1, 3 * most, most - buffer // 2})
    penalties = get_soft_overlong_punishment(most, buffer)([[0] * length for length in lengths])
    cases.append({"most": most, "buffer": buffer, "lengths": lengths, "penalties": penalties})
print(json.dumps(cases, indent=1))
