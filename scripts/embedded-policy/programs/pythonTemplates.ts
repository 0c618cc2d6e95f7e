import type { FunctionTemplate } from './javascriptTemplates.js';

const f = (about: string, verbs: string, params: string, body: string): FunctionTemplate => ({
  about,
  verbs,
  params,
  returns: '',
  body: body.replace(/^\n/, '').trimEnd(),
});

/** The same kind of patterns as the JavaScript ones, in Python. */
export const PYTHON_FUNCTIONS: readonly FunctionTemplate[] = [
  f(
    'Count the numbers above a limit',
    'count tally',
    '$list1:ints $num1:int',
    `
    $acc1 = 0
    for $item1 in $list1:
        if $item1 > $num1:
            $acc1 += 1
    return $acc1`,
  ),
  f(
    'Add up the numbers that are large enough',
    'sum total',
    '$list1:ints $num1:int',
    `
    return sum($item1 for $item1 in $list1 if $item1 >= $num1)`,
  ),
  f(
    'The largest number, or None',
    'best find',
    '$list1:ints',
    `
    if not $list1:
        return None
    $value1 = $list1[0]
    for $item1 in $list1[1:]:
        if $item1 > $value1:
            $value1 = $item1
    return $value1`,
  ),
  f(
    'Keep a number inside a range',
    'limit bound cap',
    '$num1:int $num2:small $num3:big',
    `
    if $num1 < $num2:
        return $num2
    if $num1 > $num3:
        return $num3
    return $num1`,
  ),
  f(
    'Keep a number inside a fixed range',
    'limit bound cap',
    '$num1:int',
    `
    return max(#a, min(#c, $num1))`,
  ),
  f(
    'Average, or zero where there is nothing',
    'average mean',
    '$list1:ints',
    `
    if len($list1) == 0:
        return 0
    return sum($list1) / len($list1)`,
  ),
  f(
    'Is the number divisible by one of two others',
    'is_any check',
    '$num1:pos',
    `
    return $num1 % #a2 == 0 or $num1 % #b == 0`,
  ),
  f(
    'A fee in steps',
    'fee rate bill',
    '$num1:pos',
    `
    if $num1 <= #a:
        return 0
    if $num1 <= #c:
        return ($num1 - #a) * #a2
    return $num1 * #b`,
  ),
  f(
    'Name of a grade',
    'grade classify label',
    '$num1:pos',
    `
    if $num1 >= #c:
        return "%w1"
    elif $num1 >= #b:
        return "%w2"
    elif $num1 > 0:
        return "%w3"
    return "%w4"`,
  ),
  f(
    'Reverse a text',
    'flip mirror',
    '$text1:text',
    `
    $string1 = ""
    for $item1 in $text1:
        $string1 = $item1 + $string1
    return $string1`,
  ),
  f(
    'Is the text the same from both ends',
    'is_same check',
    '$text1:palin',
    `
    $value1 = 0
    $value2 = len($text1) - 1
    while $value1 < $value2:
        if $text1[$value1] != $text1[$value2]:
            return False
        $value1 += 1
        $value2 -= 1
    return True`,
  ),
  f(
    'How often each item occurs',
    'count tally',
    '$words1:words',
    `
    $map1 = {}
    for $item1 in $words1:
        $map1[$item1] = $map1.get($item1, 0) + 1
    return $map1`,
  ),
  f(
    'Each item once',
    'unique distinct',
    '$list1:ints',
    `
    $out1 = []
    for $item1 in $list1:
        if $item1 not in $out1:
            $out1.append($item1)
    return $out1`,
  ),
  f(
    'Items that both lists have',
    'common shared',
    '$list1:ints $list2:ints',
    `
    return [$item1 for $item1 in $list1 if $item1 in $list2]`,
  ),
  f(
    'The last items',
    'last tail',
    '$list1:ints $num1:small',
    `
    if $num1 <= 0:
        return []
    return $list1[-$num1:]`,
  ),
  f(
    'Sums so far',
    'running cumulate',
    '$list1:ints',
    `
    $acc1 = 0
    $out1 = []
    for $item1 in $list1:
        $acc1 += $item1
        $out1.append($acc1)
    return $out1`,
  ),
  f(
    'Differences of neighbours',
    'diff delta',
    '$list1:ints',
    `
    return [$list1[$index1] - $list1[$index1 - 1] for $index1 in range(1, len($list1))]`,
  ),
  f(
    'Is the list sorted',
    'is_sorted ordered',
    '$list1:ints',
    `
    for $index1 in range(1, len($list1)):
        if $list1[$index1 - 1] > $list1[$index1]:
            return False
    return True`,
  ),
  f(
    'Sum of the digits',
    'digits add',
    '$num1:large',
    `
    $acc1 = 0
    while $num1 > 0:
        $acc1 += $num1 % 10
        $num1 //= 10
    return $acc1`,
  ),
  f(
    'Is it a prime number',
    'is_prime check',
    '$num1:pos',
    `
    if $num1 < 2:
        return False
    for $index1 in range(2, $num1):
        if $num1 % $index1 == 0:
            return False
    return True`,
  ),
  f(
    'Largest common divisor',
    'gcd divisor',
    '$num1:pos $num2:pos',
    `
    while $num2 != 0:
        $num1, $num2 = $num2, $num1 % $num2
    return $num1`,
  ),
  f(
    'Total of a list of records',
    'total cost',
    '$list1:recs',
    `
    $acc1 = 0
    for $item1 in $list1:
        $acc1 += $item1["@num"] * $item1["@qty"]
    return $acc1`,
  ),
  f(
    'Names of the records that are large',
    'names select',
    '$list1:recs $num1:int',
    `
    return [$item1["@name"] for $item1 in $list1 if $item1["@num"] > $num1]`,
  ),
  f(
    'Cut a text that is too long',
    'shorten clip',
    '$text1:text $num1:size',
    `
    if len($text1) > $num1:
        return $text1[:$num1] + "..."
    return $text1`,
  ),
  f(
    'Read key=value pairs',
    'parse read',
    '$text1:query',
    `
    $map1 = {}
    for $item1 in $text1.split("&"):
        if "=" in $item1:
            $value1, $value2 = $item1.split("=", 1)
            $map1[$value1] = $value2
    return $map1`,
  ),
  f(
    'Longest run of ones',
    'streak longest',
    '$list1:bits',
    `
    $acc1 = 0
    $value1 = 0
    for $item1 in $list1:
        $value1 = $value1 + 1 if $item1 == 1 else 0
        $acc1 = max($acc1, $value1)
    return $acc1`,
  ),
  f(
    'Distance of two points',
    'distance measure',
    '$num1:int $num2:int $num3:int $num4:int',
    `
    return abs($num1 - $num3) + abs($num2 - $num4)`,
  ),
  f(
    'Refuse what is out of range',
    'require ensure',
    '$num1:int',
    `
    if $num1 < #a or $num1 > #c:
        raise ValueError("%w1")
    return $num1 * #a2`,
  ),
  f(
    'Capital letters at the start of words',
    'title decorate',
    '$text1:text',
    `
    return " ".join($item1[:1].upper() + $item1[1:] for $item1 in $text1.split(" "))`,
  ),
  f(
    'Part of the whole in percent',
    'percent share',
    '$num1:pos $num2:pos',
    `
    if $num2 == 0:
        return 0
    return round($num1 / $num2 * 100)`,
  ),
];
