"""Matching blocks by Python's difflib, for src/env/reward/ratio.test.ts: python3 scripts/golden/blocks.py > scripts/golden/blocks.txt"""

import difflib
import json
import random

ALPHABETS = ["ab", "abc\n", "+- @\nabcdefgh", "a\U0001f600\u00e9"]

random.seed(7)
for index in range(300):
    alphabet = ALPHABETS[index % len(ALPHABETS)]
    a, b = ("".join(random.choice(alphabet) for _ in range(random.randrange(0, 60))) for _ in range(2))
    if index % 3 == 0:
        cut = random.randrange(0, len(a) + 1)
        b = a[cut:] + b[: random.randrange(0, len(b) + 1)] + a[:cut]
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]
    print(json.dumps({"a": a, "b": b, "blocks": [list(block) for block in blocks]}))
