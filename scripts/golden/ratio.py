"""Golden ratios of requirement R1, from Python's own difflib: `python3 scripts/golden/ratio.py`.

Writes ratio.txt beside this file: the checksum of the texts, then for each of 10,000 generated pairs the bits of
`SequenceMatcher(None, a, b, autojunk=False).ratio()` as 16 hexadecimal digits. The texts themselves are not kept: they
are generated again, step for step alike, by src/env/reward/goldenPairs.testing.ts. Takes about a minute.
"""

import difflib
import pathlib
import struct

PAIRS = 10_000
MASK = 0xFFFFFFFF

# A lone high surrogate and a lone low one never meet in one text: in UTF-16 the two would be one character.
ALPHABETS = [
    [97, 98],
    [97, 98, 99, 32, 10],
    [ord(c) for c in "abcdefghijklmnop ()=;{}\n\n  "],
    [0x1F600, 0x1F601, 0x10000, 0x10FFFF, 97, 0xE9, 10],
    [0xD800, 0xDBFF, 0x1F600, 98, 10],
    [0xDC00, 0xDFFF, 0x1F601, 99, 10],
    [97, 13, 10, 0x2028, 0x85, 0x0B, 0x1C, 0xFEFF, 0],
]
WORDS = ["const", "x", "y", "value", "=", "+", "-", "1", "0", "<", "<=", "return", "if", "(", ")", "{", "}", "\xe9", "\U0001f600"]
BREAKS = [[10], [10], [13, 10]]


class Stream:
    """Marsaglia's xorshift32."""

    def __init__(self, seed):
        self.state = (seed * 2654435761 + 12345) & MASK or 1

    def below(self, bound):
        x = self.state
        x ^= (x << 13) & MASK
        x ^= x >> 17
        x ^= (x << 5) & MASK
        self.state = x
        return x % bound

    def choice(self, items):
        return items[self.below(len(items))]


def scattered(stream, alphabet, length):
    return [stream.choice(alphabet) for _ in range(length)]


def lines(stream, count, marked):
    ending = stream.choice(BREAKS)
    text = []
    for line in range(count):
        if line > 0:
            text += ending
        if marked:
            text.append(stream.choice([32, 32, 43, 45]))
        for word in range(stream.below(6)):
            if word > 0:
                text.append(32)
            text += [ord(c) for c in stream.choice(WORDS)]
    if stream.below(2) == 0:
        text += ending
    return text


def repeated(stream, length):
    """Texts whose parts are alike: a unit over and over, Fibonacci's word, Thue and Morse's."""
    kind = stream.below(3)
    if kind == 0:
        unit = scattered(stream, ALPHABETS[0], 1 + stream.below(4))
        return (unit * length)[:length]
    if kind == 1:
        shorter, longer = [97], [97, 98]
        while len(longer) < length:
            shorter, longer = longer, longer + shorter
        return longer[:length]
    return [97 + bin(at).count("1") % 2 for at in range(length)]


def mutated(stream, text, alphabet):
    result = list(text)
    for _ in range(stream.below(6)):
        at = stream.below(len(result) + 1)
        size = 1 + stream.below(1 + stream.below(20))
        action = stream.below(4)
        if action == 0:
            result = result[:at] + result[at + size :]
        elif action == 1:
            result = result[:at] + scattered(stream, alphabet, size) + result[at:]
        elif action == 2:
            start = stream.below(len(result) + 1)
            result = result[:at] + result[start : start + size] + result[at:]
        else:
            result = result[at:] + result[:at]
    return result


def base(stream, index, alphabet):
    kind = index % 5
    if index % 500 == 499:
        size = stream.below(3)
        if size == 0:
            return [0x4E00 + stream.below(20_000) for _ in range(30_000)]
        return repeated(stream, 2500) if size == 1 else lines(stream, 300, True)
    if kind == 0:
        return scattered(stream, alphabet, stream.below(80))
    if kind == 1:
        return lines(stream, stream.below(25), False)
    if kind == 2:
        return lines(stream, stream.below(40), True)
    if kind == 3:
        return repeated(stream, stream.below(200))
    return scattered(stream, alphabet, stream.below(6))


def pair(index):
    stream = Stream(index)
    alphabet = stream.choice(ALPHABETS)
    a = base(stream, index, alphabet)
    b = mutated(stream, a, alphabet) if stream.below(4) > 0 else base(stream, index, alphabet)
    return (a, b) if stream.below(2) == 0 else (b, a)


def checksum(so_far, points):
    for point in points + [MASK]:
        so_far = ((so_far ^ point) * 16777619) & MASK
    return so_far


def main():
    total = 2166136261
    bits = []
    for index in range(PAIRS):
        a, b = pair(index)
        total = checksum(checksum(total, a), b)
        matcher = difflib.SequenceMatcher(None, "".join(map(chr, a)), "".join(map(chr, b)), autojunk=False)
        bits.append(struct.pack(">d", matcher.ratio()).hex())
    rows = ["".join(bits[at : at + 7]) for at in range(0, PAIRS, 7)]
    pathlib.Path(__file__).with_name("ratio.txt").write_text("\n".join([f"{total:08x}", *rows]) + "\n")


if __name__ == "__main__":
    main()
