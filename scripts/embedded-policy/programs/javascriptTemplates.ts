/**
 * Bodies of functions, as patterns. `$role1` becomes a name that suits the role (the same one wherever it returns in the
 * function), `#a` a small constant, `#b` a middling one, `#c` a large one, `%w` a random word. The parameters name their
 * roles and the kind of values that the tests pass.
 */
export interface FunctionTemplate {
  /** What it does, for a comment. */
  readonly about: string;
  /** Verbs that suit it. */
  readonly verbs: string;
  /** `role:kind` of each parameter. */
  readonly params: string;
  readonly returns: string;
  readonly body: string;
}

const f = (about: string, verbs: string, params: string, returns: string, body: string): FunctionTemplate => ({
  about,
  verbs,
  params,
  returns,
  body: body.replace(/^\n/, '').trimEnd(),
});

export const FUNCTIONS: readonly FunctionTemplate[] = [
  f(
    'Counts the numbers above a limit',
    'count tally',
    '$list1:ints $num1:int',
    'number',
    `
  let $acc1 = 0;
  for (const $item1 of $list1) {
    if ($item1 > $num1) $acc1 += 1;
  }
  return $acc1;`,
  ),
  f(
    'Adds up the numbers that are large enough',
    'sum total add',
    '$list1:ints $num1:int',
    'number',
    `
  let $acc1 = 0;
  for (let $index1 = 0; $index1 < $list1.length; $index1 += 1) {
    if ($list1[$index1] >= $num1) {
      $acc1 += $list1[$index1];
    }
  }
  return $acc1;`,
  ),
  f(
    'The largest number, or null',
    'max find best',
    '$list1:ints',
    'number | null',
    `
  if ($list1.length === 0) return null;
  let $value1 = $list1[0];
  for (const $item1 of $list1) {
    if ($item1 > $value1) $value1 = $item1;
  }
  return $value1;`,
  ),
  f(
    'Position of the smallest number',
    'find min locate',
    '$list1:ints',
    'number',
    `
  let $value1 = 0;
  for (let $index1 = 1; $index1 < $list1.length; $index1 += 1) {
    if ($list1[$index1] < $list1[$value1]) {
      $value1 = $index1;
    }
  }
  return $list1.length === 0 ? -1 : $value1;`,
  ),
  f(
    'Keeps a number inside a range',
    'limit bound cap restrict',
    '$num1:int $num2:small $num3:big',
    'number',
    `
  if ($num1 < $num2) {
    return $num2;
  }
  if ($num1 > $num3) {
    return $num3;
  }
  return $num1;`,
  ),
  f(
    'Keeps a number inside a fixed range',
    'limit bound cap normalize',
    '$num1:int',
    'number',
    `
  return Math.max(#a, Math.min(#c, $num1));`,
  ),
  f(
    'Average of the numbers; zero where there are none',
    'average mean',
    '$list1:ints',
    'number',
    `
  if ($list1.length === 0) {
    return 0;
  }
  const $acc1 = $list1.reduce(($value1, $item1) => $value1 + $item1, 0);
  return $acc1 / $list1.length;`,
  ),
  f(
    'Product of the numbers',
    'product multiply',
    '$list1:smalls',
    'number',
    `
  return $list1.reduce(($acc1, $item1) => $acc1 * $item1, 1);`,
  ),
  f(
    'Is the number divisible by one of two others',
    'is check divides',
    '$num1:pos',
    'boolean',
    `
  return $num1 % #a2 === 0 || $num1 % #b === 0;`,
  ),
  f(
    'Price with a discount for large amounts',
    'price calc cost charge',
    '$num1:pos $num2:pos',
    'number',
    `
  const $value1 = $num1 * $num2;
  if ($num2 >= #b) {
    return $value1 - $value1 / #a2;
  }
  return $value1 + #a;`,
  ),
  f(
    'A fee in steps',
    'fee rate tier bill',
    '$num1:pos',
    'number',
    `
  if ($num1 <= #a) return 0;
  if ($num1 <= #c) return ($num1 - #a) * #a2;
  return $num1 * #b;`,
  ),
  f(
    'Name of a grade',
    'grade rank classify label',
    '$num1:pos',
    'string',
    `
  if ($num1 >= #c) return '%w1';
  if ($num1 >= #b) return '%w2';
  if ($num1 > 0) return '%w3';
  return '%w4';`,
  ),
  f(
    'Repeats a text with a separator',
    'repeat join build',
    '$text1:word $num1:small',
    'string',
    `
  let $string1 = '';
  for (let $index1 = 0; $index1 < $num1; $index1 += 1) {
    if ($index1 > 0) $string1 += '-';
    $string1 += $text1;
  }
  return $string1;`,
  ),
  f(
    'Reverses a text',
    'reverse flip mirror',
    '$text1:text',
    'string',
    `
  let $string1 = '';
  for (let $index1 = $text1.length - 1; $index1 >= 0; $index1 -= 1) {
    $string1 += $text1[$index1];
  }
  return $string1;`,
  ),
  f(
    'Is the text the same from both ends',
    'is check same',
    '$text1:palin',
    'boolean',
    `
  let $value1 = 0;
  let $value2 = $text1.length - 1;
  while ($value1 < $value2) {
    if ($text1[$value1] !== $text1[$value2]) return false;
    $value1 += 1;
    $value2 -= 1;
  }
  return true;`,
  ),
  f(
    'Counts a letter in a text',
    'count tally',
    '$text1:text $item1:char',
    'number',
    `
  let $acc1 = 0;
  for (const $item2 of $text1) {
    if ($item2 === $item1) $acc1 += 1;
  }
  return $acc1;`,
  ),
  f(
    'Counts the vowels',
    'count vowels',
    '$text1:text',
    'number',
    `
  return [...$text1].filter(($item1) => 'aeiou'.includes($item1)).length;`,
  ),
  f(
    'Capital letters at the start of words',
    'title capitalize format',
    '$text1:text',
    'string',
    `
  return $text1
    .split(' ')
    .map(($item1) => $item1.slice(0, 1).toUpperCase() + $item1.slice(1))
    .join(' ');`,
  ),
  f(
    'First letters of the words',
    'initials short abbreviate',
    '$text1:text',
    'string',
    `
  const $out1 = $text1.split(' ').filter(($item1) => $item1.length > 0);
  return $out1.map(($item1) => $item1[0].toUpperCase()).join('.');`,
  ),
  f(
    'The longest word',
    'longest find pick',
    '$words1:words',
    'string',
    `
  let $string1 = '';
  for (const $item1 of $words1) {
    if ($item1.length > $string1.length) {
      $string1 = $item1;
    }
  }
  return $string1;`,
  ),
  f(
    'Fills a text up on the left',
    'pad fill align',
    '$text1:word $num1:size',
    'string',
    `
  let $string1 = $text1;
  while ($string1.length < $num1) {
    $string1 = '*' + $string1;
  }
  return $string1;`,
  ),
  f(
    'Cuts a text that is too long',
    'shorten cut trim clip',
    '$text1:text $num1:size',
    'string',
    `
  if ($text1.length > $num1) {
    return $text1.slice(0, $num1) + '...';
  }
  return $text1;`,
  ),
  f(
    'Run lengths of a text',
    'compress encode pack',
    '$text1:runs',
    'string',
    `
  let $string1 = '';
  let $acc1 = 1;
  for (let $index1 = 0; $index1 < $text1.length; $index1 += 1) {
    if ($text1[$index1] === $text1[$index1 + 1]) {
      $acc1 += 1;
    } else {
      $string1 += $text1[$index1] + $acc1;
      $acc1 = 1;
    }
  }
  return $string1;`,
  ),
  f(
    'Shifts letters around the alphabet',
    'shift encode rotate',
    '$text1:word $num1:small',
    'string',
    `
  let $string1 = '';
  for (const $item1 of $text1) {
    const $value1 = $item1.charCodeAt(0) - 97;
    $string1 += String.fromCharCode((($value1 + $num1) % 26) + 97);
  }
  return $string1;`,
  ),
  f(
    'How often each item occurs',
    'count tally histogram',
    '$words1:words',
    'Record<string, number>',
    `
  const $map1 = {};
  for (const $item1 of $words1) {
    $map1[$item1] = ($map1[$item1] ?? 0) + 1;
  }
  return $map1;`,
  ),
  f(
    'Groups words by their length',
    'group bucket index',
    '$words1:words',
    'Record<string, string[]>',
    `
  const $map1 = {};
  for (const $item1 of $words1) {
    const $value1 = $item1.length;
    if (!($value1 in $map1)) $map1[$value1] = [];
    $map1[$value1].push($item1);
  }
  return $map1;`,
  ),
  f(
    'Each item once',
    'unique dedupe distinct',
    '$list1:ints',
    'number[]',
    `
  const $out1 = [];
  for (const $item1 of $list1) {
    if (!$out1.includes($item1)) {
      $out1.push($item1);
    }
  }
  return $out1;`,
  ),
  f(
    'Items that both lists have',
    'common intersect shared',
    '$list1:ints $list2:ints',
    'number[]',
    `
  return $list1.filter(($item1) => $list2.includes($item1));`,
  ),
  f(
    'Items that the second list lacks',
    'without missing subtract',
    '$list1:ints $list2:ints',
    'number[]',
    `
  const $map1 = new Set($list2);
  return $list1.filter(($item1) => !$map1.has($item1));`,
  ),
  f(
    'Takes items while they are small',
    'take head prefix',
    '$list1:ints $num1:int',
    'number[]',
    `
  const $out1 = [];
  for (const $item1 of $list1) {
    if ($item1 >= $num1) break;
    $out1.push($item1);
  }
  return $out1;`,
  ),
  f(
    'The last items',
    'last tail take',
    '$list1:ints $num1:small',
    'number[]',
    `
  if ($num1 <= 0) return [];
  return $list1.slice(Math.max(0, $list1.length - $num1));`,
  ),
  f(
    'Moves items around a ring',
    'rotate shift cycle',
    '$list1:ints $num1:small',
    'number[]',
    `
  if ($list1.length === 0) return [];
  const $value1 = $num1 % $list1.length;
  return [...$list1.slice($value1), ...$list1.slice(0, $value1)];`,
  ),
  f(
    'Sums so far',
    'running cumulate accumulate',
    '$list1:ints',
    'number[]',
    `
  let $acc1 = 0;
  return $list1.map(($item1) => {
    $acc1 += $item1;
    return $acc1;
  });`,
  ),
  f(
    'Differences of neighbours',
    'diff delta changes',
    '$list1:ints',
    'number[]',
    `
  const $out1 = [];
  for (let $index1 = 1; $index1 < $list1.length; $index1 += 1) {
    $out1.push($list1[$index1] - $list1[$index1 - 1]);
  }
  return $out1;`,
  ),
  f(
    'Is the list sorted',
    'is sorted ordered',
    '$list1:ints',
    'boolean',
    `
  for (let $index1 = 1; $index1 < $list1.length; $index1 += 1) {
    if ($list1[$index1 - 1] > $list1[$index1]) return false;
  }
  return true;`,
  ),
  f(
    'Merges two sorted lists',
    'merge zip combine',
    '$list1:sorted $list2:sorted',
    'number[]',
    `
  const $out1 = [];
  let $index1 = 0;
  let $index2 = 0;
  while ($index1 < $list1.length && $index2 < $list2.length) {
    if ($list1[$index1] <= $list2[$index2]) {
      $out1.push($list1[$index1]);
      $index1 += 1;
    } else {
      $out1.push($list2[$index2]);
      $index2 += 1;
    }
  }
  return $out1.concat($list1.slice($index1), $list2.slice($index2));`,
  ),
  f(
    'Finds a number in a sorted list',
    'search find locate',
    '$list1:sorted $num1:int',
    'number',
    `
  let $value1 = 0;
  let $value2 = $list1.length - 1;
  while ($value1 <= $value2) {
    const $value3 = Math.floor(($value1 + $value2) / 2);
    if ($list1[$value3] === $num1) return $value3;
    if ($list1[$value3] < $num1) $value1 = $value3 + 1;
    else $value2 = $value3 - 1;
  }
  return -1;`,
  ),
  f(
    'Largest common divisor',
    'gcd divisor common',
    '$num1:pos $num2:pos',
    'number',
    `
  let $value1 = $num1;
  let $value2 = $num2;
  while ($value2 !== 0) {
    [$value1, $value2] = [$value2, $value1 % $value2];
  }
  return $value1;`,
  ),
  f(
    'Sum of the digits',
    'digits sum',
    '$num1:large',
    'number',
    `
  let $acc1 = 0;
  let $value1 = $num1;
  while ($value1 > 0) {
    $acc1 += $value1 % 10;
    $value1 = Math.floor($value1 / 10);
  }
  return $acc1;`,
  ),
  f(
    'Is it a prime number',
    'is prime check',
    '$num1:pos',
    'boolean',
    `
  if ($num1 < 2) return false;
  for (let $index1 = 2; $index1 * $index1 <= $num1; $index1 += 1) {
    if ($num1 % $index1 === 0) return false;
  }
  return true;`,
  ),
  f(
    'A number of the Fibonacci kind',
    'series sequence nth',
    '$num1:small',
    'number',
    `
  let $value1 = #a;
  let $value2 = 1;
  for (let $index1 = 0; $index1 < $num1; $index1 += 1) {
    [$value1, $value2] = [$value2, $value1 + $value2];
  }
  return $value1;`,
  ),
  f(
    'Steps until one is reached',
    'steps count chain',
    '$num1:pos1',
    'number',
    `
  let $value1 = $num1;
  let $acc1 = 0;
  while ($value1 > 1) {
    $value1 = $value1 % 2 === 0 ? $value1 / 2 : $value1 * 3 + 1;
    $acc1 += 1;
  }
  return $acc1;`,
  ),
  f(
    'Power by repeated multiplication',
    'power raise',
    '$num1:small $num2:small',
    'number',
    `
  let $acc1 = 1;
  for (let $index1 = 0; $index1 < $num2; $index1 += 1) {
    $acc1 *= $num1;
  }
  return $acc1;`,
  ),
  f(
    'Binary digits of a number',
    'binary encode bits',
    '$num1:pos',
    'string',
    `
  if ($num1 === 0) return '0';
  let $string1 = '';
  for (let $value1 = $num1; $value1 > 0; $value1 = Math.floor($value1 / 2)) {
    $string1 = ($value1 % 2) + $string1;
  }
  return $string1;`,
  ),
  f(
    'Is it a leap year of this calendar',
    'is leap check',
    '$num1:year',
    'boolean',
    `
  if ($num1 % 400 === 0) return true;
  return $num1 % 4 === 0 && $num1 % 100 !== 0;`,
  ),
  f(
    'Minutes as a clock shows them',
    'clock format time',
    '$num1:large',
    'string',
    `
  const $value1 = Math.floor($num1 / 60) % 24;
  const $value2 = $num1 % 60;
  return String($value1).padStart(2, '0') + ':' + String($value2).padStart(2, '0');`,
  ),
  f(
    'Seconds of a clock time',
    'seconds parse time',
    '$text1:clock',
    'number',
    `
  const [$value1, $value2] = $text1.split(':').map(Number);
  if ($value2 >= 60) return -1;
  return $value1 * 3600 + $value2 * 60;`,
  ),
  f(
    'Total price of a list of records',
    'total sum cost',
    '$list1:recs',
    'number',
    `
  let $acc1 = 0;
  for (const $item1 of $list1) {
    $acc1 += $item1.@num * $item1.@qty;
  }
  return $acc1;`,
  ),
  f(
    'Names of the records that are large',
    'names select filter',
    '$list1:recs $num1:int',
    'string[]',
    `
  return $list1.filter(($item1) => $item1.@num > $num1).map(($item1) => $item1.@name);`,
  ),
  f(
    'Sorts records, largest first',
    'sort rank order',
    '$list1:recs',
    'string[]',
    `
  const $out1 = [...$list1].sort(($item1, $item2) => $item2.@num - $item1.@num);
  return $out1.map(($item1) => $item1.@name);`,
  ),
  f(
    'Finds a record by its name',
    'find lookup get',
    '$list1:recs $text1:recname',
    'number | null',
    `
  const $value1 = $list1.find(($item1) => $item1.@name === $text1);
  return $value1 === undefined ? null : $value1.@num;`,
  ),
  f(
    'Adds up by name',
    'group sum totals',
    '$list1:recs',
    'Record<string, number>',
    `
  const $map1 = {};
  for (const { @name, @qty } of $list1) {
    $map1[@name] = ($map1[@name] || 0) + @qty;
  }
  return $map1;`,
  ),
  f(
    'Are there enough of every record',
    'all every check',
    '$list1:recs $num1:small',
    'boolean',
    `
  return $list1.every(($item1) => $item1.@qty >= $num1);`,
  ),
  f(
    'Is any record without stock',
    'any some has',
    '$list1:recs',
    'boolean',
    `
  return $list1.some(($item1) => $item1.@qty === 0 && $item1.@num > #a);`,
  ),
  f(
    'Numbers from one end to the other',
    'span series numbers',
    '$num1:small $num2:int',
    'number[]',
    `
  const $out1 = [];
  for (let $value1 = $num1; $value1 <= $num2; $value1 += #a) {
    $out1.push($value1);
  }
  return $out1;`,
  ),
  f(
    'A grid of products',
    'grid table build',
    '$num1:tiny $num2:tiny',
    'number[][]',
    `
  const $out1 = [];
  for (let $index1 = 0; $index1 < $num1; $index1 += 1) {
    const $value1 = [];
    for (let $index2 = 0; $index2 < $num2; $index2 += 1) {
      $value1.push($index1 * #b + $index2);
    }
    $out1.push($value1);
  }
  return $out1;`,
  ),
  f(
    'Sum of every row',
    'sums rows totals',
    '$list1:grid',
    'number[]',
    `
  return $list1.map(($item1) => $item1.reduce(($acc1, $item2) => $acc1 + $item2, 0));`,
  ),
  f(
    'One column of a grid',
    'column pick slice',
    '$list1:grid $num1:tiny',
    'number[]',
    `
  const $out1 = [];
  for (const $item1 of $list1) {
    if ($num1 < $item1.length) $out1.push($item1[$num1]);
  }
  return $out1;`,
  ),
  f(
    'Reads key=value pairs',
    'parse read load',
    '$text1:query',
    'Record<string, string>',
    `
  const $map1 = {};
  for (const $item1 of $text1.split('&')) {
    const $index1 = $item1.indexOf('=');
    if ($index1 > 0) {
      $map1[$item1.slice(0, $index1)] = $item1.slice($index1 + 1);
    }
  }
  return $map1;`,
  ),
  f(
    'Writes an object as key=value pairs',
    'format write dump',
    '$map1:obj',
    'string',
    `
  const $out1 = [];
  for (const [$item1, $value1] of Object.entries($map1)) {
    if ($value1 !== 0) $out1.push($item1 + '=' + $value1);
  }
  return $out1.join('; ');`,
  ),
  f(
    'Key of the largest value',
    'best top winner',
    '$map1:obj',
    'string | null',
    `
  let $value1 = null;
  for (const $item1 of Object.keys($map1)) {
    if ($value1 === null || $map1[$item1] > $map1[$value1]) {
      $value1 = $item1;
    }
  }
  return $value1;`,
  ),
  f(
    'Adds two objects up',
    'merge combine add',
    '$map1:obj $map2:obj',
    'Record<string, number>',
    `
  const $out1 = { ...$map1 };
  for (const $item1 of Object.keys($map2)) {
    $out1[$item1] = ($out1[$item1] ?? 0) + $map2[$item1];
  }
  return $out1;`,
  ),
  f(
    'Depth of the brackets, or -1',
    'depth nesting check',
    '$text1:brackets',
    'number',
    `
  let $value1 = 0;
  let $acc1 = 0;
  for (const $item1 of $text1) {
    if ($item1 === '(') $value1 += 1;
    else if ($item1 === ')') $value1 -= 1;
    if ($value1 < 0) return -1;
    $acc1 = Math.max($acc1, $value1);
  }
  return $value1 === 0 ? $acc1 : -1;`,
  ),
  f(
    'Words that are long enough',
    'words select filter',
    '$text1:text $num1:small',
    'string[]',
    `
  return $text1.split(' ').filter(($item1) => $item1.length >= $num1);`,
  ),
  f(
    'Longest run of one item',
    'streak longest run',
    '$list1:bits',
    'number',
    `
  let $acc1 = 0;
  let $value1 = 0;
  for (const $item1 of $list1) {
    $value1 = $item1 === 1 ? $value1 + 1 : 0;
    if ($value1 > $acc1) {
      $acc1 = $value1;
    }
  }
  return $acc1;`,
  ),
  f(
    'Numbers of two lists, pair by pair',
    'zip pairs combine',
    '$list1:ints $list2:ints',
    'number[]',
    `
  const $value1 = Math.min($list1.length, $list2.length);
  const $out1 = [];
  for (let $index1 = 0; $index1 < $value1; $index1 += 1) {
    $out1.push($list1[$index1] * $list2[$index1]);
  }
  return $out1;`,
  ),
  f(
    'Flattens a list of lists',
    'flatten join concat',
    '$list1:grid',
    'number[]',
    `
  const $out1 = [];
  for (const $item1 of $list1) {
    for (const $item2 of $item1) {
      if ($item2 !== #a) $out1.push($item2);
    }
  }
  return $out1;`,
  ),
  f(
    'Part of the whole in percent',
    'percent ratio share',
    '$num1:pos $num2:pos',
    'number',
    `
  if ($num2 === 0) return 0;
  return Math.round(($num1 / $num2) * 100);`,
  ),
  f(
    'Distance of two points',
    'distance measure far',
    '$num1:int $num2:int $num3:int $num4:int',
    'number',
    `
  const $value1 = Math.abs($num1 - $num3);
  const $value2 = Math.abs($num2 - $num4);
  return $value1 + $value2;`,
  ),
  f(
    'Is the point inside the box',
    'inside contains hit',
    '$num1:int $num2:int',
    'boolean',
    `
  return $num1 >= 0 && $num1 < #c && $num2 >= #a && $num2 < #b;`,
  ),
  f(
    'Chooses by a flag',
    'choose switch select',
    '$num1:int $bool1:bool',
    'number',
    `
  if ($bool1) {
    return $num1 + #a;
  }
  return $num1 * #a2 - #b;`,
  ),
  f(
    'Next state of a machine',
    'next advance step',
    '$text1:state',
    'string',
    `
  switch ($text1) {
    case 'idle':
      return 'running';
    case 'running':
      return '%w1';
    case 'paused':
      return 'running';
    default:
      return '%w2';
  }`,
  ),
  f(
    'Score of a hand',
    'score points evaluate',
    '$list1:smalls',
    'number',
    `
  let $acc1 = 0;
  for (const $item1 of $list1) {
    if ($item1 === #a) {
      $acc1 += #b;
    } else if ($item1 > #a2) {
      $acc1 += $item1 - 1;
    } else {
      $acc1 -= 1;
    }
  }
  return $acc1;`,
  ),
  f(
    'Checks a password',
    'valid check accept',
    '$text1:password',
    'boolean',
    `
  if ($text1.length < #b) return false;
  const $flag1 = /[0-9]/.test($text1);
  const $flag2 = /[A-Z]/.test($text1);
  return $flag1 && $flag2;`,
  ),
  f(
    'Plural of a word',
    'plural label format',
    '$num1:small $text1:word',
    'string',
    `
  const $string1 = $num1 === 1 ? '' : 's';
  return \`\${$num1} \${$text1}\${$string1}\`;`,
  ),
  f(
    'Interest over some years',
    'grow interest compound',
    '$num1:pos $num2:tiny',
    'number',
    `
  let $value1 = $num1;
  for (let $index1 = 0; $index1 < $num2; $index1 += 1) {
    $value1 += Math.floor(($value1 * #b) / 100);
  }
  return $value1;`,
  ),
  f(
    'Refuses what is out of range',
    'require check ensure',
    '$num1:int',
    'number',
    `
  if ($num1 < #a || $num1 > #c) {
    throw new RangeError('%w1');
  }
  return $num1 * #a2;`,
  ),
  f(
    'Second largest number',
    'second runner next',
    '$list1:ints',
    'number | null',
    `
  const $out1 = [...$list1].sort(($value1, $value2) => $value2 - $value1);
  if ($out1.length < 2) return null;
  return $out1[1];`,
  ),
  f(
    'Every nth item',
    'every nth sample',
    '$list1:ints $num1:pos1',
    'number[]',
    `
  return $list1.filter((_, $index1) => $index1 % $num1 === 0);`,
  ),
  f(
    'Swaps the cases of letters',
    'swap toggle invert',
    '$text1:mixed',
    'string',
    `
  let $string1 = '';
  for (const $item1 of $text1) {
    $string1 += $item1 === $item1.toUpperCase() ? $item1.toLowerCase() : $item1.toUpperCase();
  }
  return $string1;`,
  ),
  f(
    'Number in a mixed base',
    'convert weigh value',
    '$list1:smalls',
    'number',
    `
  let $acc1 = 0;
  for (const $item1 of $list1) {
    $acc1 = $acc1 * #b + $item1;
  }
  return $acc1;`,
  ),
  f(
    'A window of the list around a position',
    'window around near',
    '$list1:ints $num1:small',
    'number[]',
    `
  const $value1 = Math.max(0, $num1 - #a);
  const $value2 = Math.min($list1.length, $num1 + #a + 1);
  return $list1.slice($value1, $value2);`,
  ),
  f(
    'A value with a default',
    'get read value',
    '$map1:obj $text1:key',
    'number',
    `
  const $value1 = $map1[$text1];
  if ($value1 === undefined) return #b;
  return $value1 + #a;`,
  ),
];

/** A class: its own fields and methods, and how a test plays with it. Each method: `name`, kinds of arguments, body. */
export interface ClassTemplate {
  readonly about: string;
  readonly names: string;
  /** Kinds of the constructor's arguments. */
  readonly construct: string;
  readonly head: string;
  /** `&name` marks a method; the text in parentheses gives its parameters with kinds. */
  readonly methods: readonly {
    readonly name: string;
    readonly params: string;
    readonly getter?: boolean;
    readonly body: string;
  }[];
}

const m = (name: string, params: string, body: string, getter = false) => ({
  name,
  params,
  body: body.replace(/^\n/, '').trimEnd(),
  ...(getter ? { getter } : {}),
});

export const CLASSES: readonly ClassTemplate[] = [
  {
    about: 'Counts within limits',
    names: 'Counter Gauge Meter Dial Odometer',
    construct: '$num1:tiny',
    head: `
  constructor($num1 = 0) {
    this.~a = $num1;
    this.~b = $num1;
  }`,
    methods: [
      m(
        'increment bump up raise',
        '$num1:tiny',
        `
    this.~a = Math.min(#c, this.~a + $num1);
    return this.~a;`,
      ),
      m(
        'decrement lower down drop',
        '',
        `
    if (this.~a > 0) {
      this.~a -= 1;
    }
    return this.~a;`,
      ),
      m(
        'reset clear restart',
        '',
        `
    this.~a = this.~b;
    return this.~a;`,
      ),
      m(
        'isMax full atLimit',
        '',
        `
    return this.~a >= #c;`,
      ),
    ],
  },
  {
    about: 'Last in, first out',
    names: 'Stack Pile Heap Tower Shelf',
    construct: '$num1:cap',
    head: `
  constructor($num1) {
    this.~a = [];
    this.~b = $num1;
  }`,
    methods: [
      m(
        'push add put',
        '$item1:int',
        `
    if (this.~a.length >= this.~b) return false;
    this.~a.push($item1);
    return true;`,
      ),
      m(
        'pop take remove',
        '',
        `
    if (this.~a.length === 0) return null;
    return this.~a.pop();`,
      ),
      m(
        'peek top last',
        '',
        `
    return this.~a.length > 0 ? this.~a[this.~a.length - 1] : null;`,
      ),
      m(
        'size length count',
        '',
        `
    return this.~a.length;`,
        true,
      ),
    ],
  },
  {
    about: 'Money that comes and goes',
    names: 'Account Wallet Purse Budget Ledger',
    construct: '$num1:pos',
    head: `
  constructor($num1 = #c) {
    this.~a = $num1;
    this.~b = 0;
  }`,
    methods: [
      m(
        'deposit credit pay',
        '$num1:pos',
        `
    if ($num1 <= 0) return this.~a;
    this.~a += $num1;
    this.~b += 1;
    return this.~a;`,
      ),
      m(
        'withdraw spend debit',
        '$num1:pos',
        `
    if ($num1 > this.~a) {
      return false;
    }
    this.~a -= $num1;
    this.~b += 1;
    return true;`,
      ),
      m(
        'fee charge cost',
        '',
        `
    return this.~b > #a ? this.~b * #a2 : 0;`,
      ),
      m(
        'isEmpty broke empty',
        '',
        `
    return this.~a === 0;`,
      ),
    ],
  },
  {
    about: 'Remembers a few values by key',
    names: 'Cache Store Registry Memo Directory',
    construct: '$num1:cap',
    head: `
  constructor($num1) {
    this.~b = $num1;
    this.~a = new Map();
  }`,
    methods: [
      m(
        'set put save',
        '$text1:key $item1:int',
        `
    if (this.~a.has($text1)) this.~a.delete($text1);
    this.~a.set($text1, $item1);
    if (this.~a.size > this.~b) {
      const [$value1] = this.~a.keys();
      this.~a.delete($value1);
    }
    return this.~a.size;`,
      ),
      m(
        'get read load',
        '$text1:key',
        `
    return this.~a.has($text1) ? this.~a.get($text1) : null;`,
      ),
      m(
        'has knows contains',
        '$text1:key',
        `
    return this.~a.has($text1);`,
      ),
      m(
        'remove forget drop',
        '$text1:key',
        `
    if (!this.~a.has($text1)) return false;
    this.~a.delete($text1);
    return true;`,
      ),
    ],
  },
  {
    about: 'First in, first out',
    names: 'Line Buffer Pipeline Channel Backlog',
    construct: '',
    head: `
  constructor() {
    this.~a = [];
    this.~b = 0;
  }`,
    methods: [
      m(
        'enqueue add join',
        '$item1:word',
        `
    this.~a.push($item1);
    this.~b = Math.max(this.~b, this.~a.length);
    return this.~a.length;`,
      ),
      m(
        'dequeue next serve',
        '',
        `
    if (this.~a.length === 0) return null;
    return this.~a.shift();`,
      ),
      m(
        'peak longest record',
        '',
        `
    return this.~b;`,
        true,
      ),
      m(
        'position find indexOf',
        '$text1:word',
        `
    const $index1 = this.~a.indexOf($text1);
    return $index1 === -1 ? 0 : $index1 + 1;`,
      ),
    ],
  },
  {
    about: 'Turns on and off',
    names: 'Switch Toggle Lamp Valve Gate',
    construct: '$num1:cap',
    head: `
  #~a = false;
  #~b = 0;

  constructor($num1) {
    this.limit = $num1;
  }`,
    methods: [
      m(
        'toggle flip press',
        '',
        `
    if (this.#~b >= this.limit) return this.#~a;
    this.#~a = !this.#~a;
    this.#~b += 1;
    return this.#~a;`,
      ),
      m(
        'state isOn value',
        '',
        `
    return this.#~a ? 'on' : 'off';`,
        true,
      ),
      m(
        'remaining left budget',
        '',
        `
    return this.limit - this.#~b;`,
      ),
    ],
  },
  {
    about: 'Statistics of what was seen',
    names: 'Stats Tracker Monitor Sampler Series',
    construct: '',
    head: `
  constructor() {
    this.~a = 0;
    this.~b = 0;
    this.best = null;
  }`,
    methods: [
      m(
        'add record track',
        '$num1:int',
        `
    this.~a += $num1;
    this.~b += 1;
    if (this.best === null || $num1 > this.best) {
      this.best = $num1;
    }
    return this.~b;`,
      ),
      m(
        'mean average level',
        '',
        `
    if (this.~b === 0) return 0;
    return this.~a / this.~b;`,
      ),
      m(
        'range spread above',
        '$num1:int',
        `
    return this.best !== null && this.best - $num1 > #a;`,
      ),
    ],
  },
];
