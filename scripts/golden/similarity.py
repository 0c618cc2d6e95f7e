"""Golden values of requirement R1, from Python's own difflib: `python3 scripts/golden/similarity.py [COUNT SEED]`.

Writes similarity.json beside this file; with COUNT and SEED it writes that many cases to standard output instead.
A case is [before, predicted, oracle, hunks of before -> predicted, reward, ratio of predicted to oracle as plain texts];
`hunks` and `reward` follow SWE-RL's generate_unified_diff and calculate_reward for one file.
"""

import difflib
import json
import pathlib
import random
import sys

ALPHABETS = ["ab", "abc \n", "abcdefgh ()=+\n\n\t", "aé\U0001f600\U0001f601b\n", "xy\r\n", "a\n\u2028\x0b\x1c\x85b"]
WORDS = ["const", "x", "y", "value", "=", "+", "-", "1", "0", "<", "<=", "return", "if", "(", ")", "{", "}", "é", "\U0001f600"]


def hunks(before, after):
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))
    return "\n".join(lines[2:])


def ratio(a, b):
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def reward(predicted, oracle):
    if predicted == "" and oracle == "":
        return 1.0
    return 0.0 if predicted == "" or oracle == "" else ratio(predicted, oracle)


def text(rng):
    kind = rng.random()
    if kind < 0.05:
        return ""
    if kind < 0.35:
        alphabet = rng.choice(ALPHABETS)
        return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 60)))
    newline = rng.choice(["\n", "\n", "\n", "\r\n"])
    vocabulary = rng.sample(WORDS, rng.randint(2, len(WORDS)))
    lines = [" ".join(rng.choice(vocabulary) for _ in range(rng.randint(0, 5))) for _ in range(rng.randint(1, 25))]
    return newline.join(lines) + rng.choice(["", newline])


def long_text(rng):
    """Above 200 lines difflib leaves popular lines out of its matching of lines."""
    lines = [rng.choice(["", "}", "x", f"line {rng.randint(0, 40)}"]) for _ in range(rng.randint(195, 230))]
    return "\n".join(lines) + "\n"


def mutate(rng, source):
    pieces = source.splitlines(keepends=True) if rng.random() < 0.7 else list(source)
    for _ in range(rng.randint(0, 4)):
        at = rng.randint(0, len(pieces))
        action = rng.random()
        if action < 0.35:
            pieces[at : at + rng.randint(1, 3)] = []
        elif action < 0.7:
            pieces[at:at] = [rng.choice(pieces) if pieces else "x"]
        else:
            pieces[at : at + 1] = [text(rng)[:20]]
    return "".join(pieces)


def case(rng, long_share):
    before = long_text(rng) if rng.random() < long_share else text(rng)
    predicted = mutate(rng, before) if rng.random() < 0.9 else text(rng)
    oracle = mutate(rng, before) if rng.random() < 0.9 else text(rng)
    predicted_hunks = hunks(before, predicted)
    return [before, predicted, oracle, predicted_hunks, reward(predicted_hunks, hunks(before, oracle)), ratio(predicted, oracle)]


def cases(count, seed, long_share):
    rng = random.Random(seed)
    return [case(rng, long_share) for _ in range(count)]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        json.dump(cases(int(sys.argv[1]), int(sys.argv[2]), 0.1), sys.stdout)
    else:
        golden = pathlib.Path(__file__).with_name("similarity.json")
        golden.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases(300, 1, 0.03)) + "\n]\n")
