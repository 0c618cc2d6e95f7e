import type { Rng } from './rng.js';

const split = (text: string) => text.trim().split(/\s+/);

export const NOUNS = split(`
  order item user score price token event node row cell page book song tile card team player ticket
  record field key label tag word letter line byte block frame step task job batch cart stock point
  edge path route stop trip seat room door lamp bolt gear wheel crate parcel invoice account ledger
  balance tax fee rate weight height width depth sensor reading sample signal pulse tone pixel color
  shade brush stroke layer mask shape corner angle vector grid board move turn round level badge medal
  coin gem potion spell rune hero orc beast farm crop seed leaf root fruit berry apple melon bread loaf
  recipe spoon dish menu table bill guest host visit hour minute week month season year holiday shift
  worker crew boss mail letter stamp chat reply post thread vote poll survey answer quiz exam grade
  student class course lesson chapter shelf author title genre track album band concert stage`);
const VERBS = split(`
  get find pick count sum make build list collect compute calc apply merge join split trim pad fill
  scan check test is has can filter select drop take group sort rank order scale shift rotate fold
  map flip swap mix blend encode decode parse read write format render show hide add remove update
  reset push pull limit cap bound round floor measure grade score weigh tally total average reduce`);
const ADJECTIVES = split(`
  next last first best worst top low high max min big small long short even odd new old open closed
  active idle free busy full empty valid raw clean sorted unique common rare local remote daily weekly
  net gross upper lower inner outer left right fast slow hot cold wet dry red blue green dark light`);
const SUFFIXES = split(`By With Of For In From To At Over Under Above Below Between Per Until After Before`);

const ROLE_NAMES: Readonly<Record<string, readonly string[]>> = {
  list: split('items values list entries xs data all numbers elements series batch rows input source nums arr'),
  words: split('words names labels tags parts tokens keys terms lines strings items list'),
  text: split('text str input s line source value content phrase raw message word'),
  num: split('n value x limit amount size count num k step level target rate base factor bound threshold width'),
  bool: split('strict flag inclusive enabled reverse loose exact force'),
  acc: split('total sum acc result count score amount answer res value tally n best'),
  index: split('i j k index pos idx at offset n'),
  item: split('item x value entry v e it each el current num'),
  out: split('result out found kept output list res picked parts collected acc'),
  string: split('out text result s buffer current piece word joined str'),
  map: split('map counts seen table groups lookup index byKey dict cache'),
  value: split('value current last prev rest left next limit start end middle low high a b temp half'),
  flag: split('found done seen open active ok changed inside valid'),
};

const SYLLABLES = split(`
  ba be bo ca ce co da de di do fa fe fi fo ga ge gi go ha he hi ka ke ki ko la le li lo ma me mi mo na
  ne ni no pa pe pi po qua ra re ri ro sa se si so ta te ti to va ve vi vo wa we wi xa xe za ze zi zo
  bar den fol gar han jun kel lor mar nor pol quin ras sol tan ven wil yor zan`);

export const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);

/** A word that exists nowhere, so that it can only be copied. */
export function invented(rng: Rng): string {
  const count = rng.pick([2, 2, 2, 3]);
  return Array.from({ length: count }, () => rng.pick(SYLLABLES)).join('');
}

export function noun(rng: Rng): string {
  return rng.chance(0.18) ? invented(rng) : rng.pick(NOUNS);
}

/** camelCase words of a function's name; `verbs` are those that suit what it does. */
export function functionWords(rng: Rng, verbs: readonly string[]): string[] {
  const verb = rng.chance(0.7) && verbs.length > 0 ? rng.pick(verbs) : rng.pick(VERBS);
  const kind = rng.next();
  if (kind < 0.1) return [invented(rng)];
  if (kind < 0.2) return [verb, invented(rng)];
  if (kind < 0.5) return [verb, noun(rng)];
  if (kind < 0.65) return [verb, rng.pick(ADJECTIVES), noun(rng)];
  if (kind < 0.8) return [verb, rng.pick(SUFFIXES).toLowerCase(), noun(rng)];
  if (kind < 0.9) return [noun(rng), noun(rng)];
  return [verb];
}

export const camel = (words: readonly string[]) =>
  words.map((word, index) => (index === 0 ? word : capital(word))).join('');
export const snake = (words: readonly string[]) => words.join('_').toLowerCase();

const RESERVED = new Set(
  split(`
  break case catch class const continue debugger default delete do else export extends finally for function if import in
  instanceof let new return static super switch this throw try typeof var void while with yield await of and or not is
  def from global lambda nonlocal pass raise elif except None True False assert del as list str map sum max min filter
  all any sorted set dict int float len range input print test round abs type object next id hash iter open ord chr`),
);

/** A name for a variable that plays `role`, not one of `taken`. It is added to `taken`. */
export function variable(rng: Rng, role: string, taken: Set<string>, separator: 'camel' | 'snake'): string {
  const pool = ROLE_NAMES[role] ?? ROLE_NAMES['value']!;
  for (let attempt = 0; ; attempt += 1) {
    const plain = rng.chance(attempt > 8 ? 0 : 0.72);
    const words = plain ? [rng.pick(pool)] : rng.chance(0.4) ? [invented(rng)] : [rng.pick(ADJECTIVES), noun(rng)];
    const name = separator === 'camel' ? camel(words) : snake(words);
    if (taken.has(name) || RESERVED.has(name)) continue;
    taken.add(name);
    return name;
  }
}

/** A function's or class's name that is not taken. */
export function freshName(make: () => string, taken: Set<string>): string {
  for (;;) {
    const name = make();
    if (taken.has(name) || RESERVED.has(name)) continue;
    taken.add(name);
    return name;
  }
}
