import { calledName, CALL_TYPES, nodesOf, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { Language } from '../parsing.js';

type Siblings = Readonly<Record<string, string>>;

/** `one/other two/more`: functions that are easily taken for one another. */
const pairs = (text: string): Siblings =>
  Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((pair) => pair.split('/'))
      .flatMap(([one, other]) => [
        [one, other],
        [other, one],
      ]),
  );

const ECMASCRIPT = pairs(`
  min/max floor/ceil push/unshift pop/shift some/every indexOf/lastIndexOf find/findLast findIndex/findLastIndex
  startsWith/endsWith toLowerCase/toUpperCase trimStart/trimEnd padStart/padEnd reduce/reduceRight
  encodeURI/encodeURIComponent decodeURI/decodeURIComponent getUTCHours/getHours getDate/getDay`);
const SIBLINGS: Readonly<Record<Language, Siblings>> = {
  javascript: ECMASCRIPT,
  typescript: ECMASCRIPT,
  tsx: ECMASCRIPT,
  python: pairs(`
    min/max floor/ceil any/all find/rfind index/rindex startswith/endswith lower/upper islower/isupper lstrip/rstrip
    ljust/rjust split/rsplit partition/rpartition removeprefix/removesuffix append/appendleft pop/popleft
    isdigit/isalpha keys/values issubset/issuperset union/intersection`),
  go: pairs(`
    min/max Min/Max Floor/Ceil HasPrefix/HasSuffix TrimPrefix/TrimSuffix TrimLeft/TrimRight ToLower/ToUpper
    Index/LastIndex IndexByte/LastIndexByte IndexAny/LastIndexAny PushFront/PushBack Front/Back Before/After
    IsUpper/IsLower CutPrefix/CutSuffix`),
  rust: pairs(`
    min/max floor/ceil any/all find/rfind starts_with/ends_with trim_start/trim_end first/last front/back
    push_front/push_back pop_front/pop_back is_some/is_none is_ok/is_err to_lowercase/to_uppercase
    to_ascii_lowercase/to_ascii_uppercase strip_prefix/strip_suffix split_once/rsplit_once take_while/skip_while
    take/skip saturating_add/saturating_sub wrapping_add/wrapping_sub checked_add/checked_sub
    is_ascii_lowercase/is_ascii_uppercase is_ascii_digit/is_ascii_alphabetic leading_zeros/trailing_zeros
    trim_start_matches/trim_end_matches`),
  java: pairs(`
    min/max floor/ceil startsWith/endsWith indexOf/lastIndexOf toLowerCase/toUpperCase addFirst/addLast
    removeFirst/removeLast getFirst/getLast peekFirst/peekLast pollFirst/pollLast anyMatch/allMatch isBefore/isAfter
    containsKey/containsValue floorKey/ceilingKey floorEntry/ceilingEntry lowerKey/higherKey headMap/tailMap
    firstKey/lastKey first/last isUpperCase/isLowerCase isDigit/isLetter incrementAndGet/getAndIncrement
    decrementAndGet/getAndDecrement stripLeading/stripTrailing skip/limit`),
};

/** A sibling called instead: `min` for `max`, `push` for `unshift`. */
export const callSwap: BugOperator = {
  name: 'call-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    const siblings = SIBLINGS[source.language];
    return nodesOf(source, ...CALL_TYPES).flatMap((call) => {
      const name = calledName(call);
      if (name === null || !Object.hasOwn(siblings, name.text)) return [];
      const sibling = siblings[name.text];
      return [replaceNode(name, sibling, `${name.text} becomes ${sibling}`)];
    });
  },
};
