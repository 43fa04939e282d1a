/**
 * Finds what `JSON.parse` changes without a word: of a name that an object has twice it keeps the
 * last value, and it rounds a number that has more digits than a double.
 */
import { placeOf } from './json.ts';

/** What is wrong with a value, said after its path. */
export const LOSSES = {
  repeated: 'appears more than once',
  rounded: 'is a number that cannot be held exactly; write it as a string',
} as const;

export interface JsonLoss {
  readonly path: readonly (string | number)[];
  readonly kind: keyof typeof LOSSES;
}

/** An open object with its names, or an open list, and what is being read of it. */
interface Level {
  readonly names: Set<string> | null;
  name: string;
  index: number;
}

/** Most losses that are returned, and most steps of a path: hostile text can have a million. */
const MOST = 100;
const DEEPEST = 64;

/** A double gives back every number of so many characters, where it has no exponent. */
const SURELY_KEPT = 15;

/**
 * Returns the losses of a text that `JSON.parse` accepts, in the order of the text. Each body of
 * the API is read so: one pass, which makes no values.
 */
export function lossesIn(json: string): readonly JsonLoss[] {
  const losses: JsonLoss[] = [];
  const levels: Level[] = [];
  let nameNext = false;
  const note = (kind: JsonLoss['kind']): void => {
    const path = levels
      .slice(0, DEEPEST)
      .map(({ names, name, index }) => (names === null ? index : name));
    losses.push({ path, kind });
  };
  for (let at = 0; at < json.length && losses.length < MOST; at += 1) {
    const character = json.charAt(at);
    const level = levels.at(-1);
    if (character === '"') {
      const end = endOfString(json, at);
      if (nameNext && level !== undefined) {
        level.name = nameOf(json.slice(at, end));
        if (level.names?.has(level.name) === true) note('repeated');
        level.names?.add(level.name);
        nameNext = false;
      }
      at = end - 1;
    } else if (character === ',') {
      if (level?.names === null) level.index += 1;
      else nameNext = true;
    } else if (character === '{' || character === '[') {
      nameNext = character === '{';
      levels.push({ names: nameNext ? new Set() : null, name: '', index: 0 });
    } else if (character === '}' || character === ']') {
      levels.pop();
      nameNext = false;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      const end = endOfNumber(json, at);
      if (!isKept(json.slice(at, end))) note('rounded');
      at = end - 1;
    }
  }
  return losses;
}

/** Returns one sentence for each loss, from its place on; `whole` names the value itself. */
export function describeLosses(json: string, whole: string): readonly string[] {
  return lossesIn(json).map(({ path, kind }) => `${placeOf(path) || whole}: ${LOSSES[kind]}`);
}

/** Returns where the string that begins at `start` is over: behind its closing quote. */
function endOfString(json: string, start: number): number {
  for (let end = start; ;) {
    end = json.indexOf('"', end + 1);
    if (end === -1) return json.length;
    let before = end;
    while (json.charAt(before - 1) === '\\') before -= 1;
    if ((end - before) % 2 === 0) return end + 1;
  }
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && '0123456789.eE+-'.includes(json.charAt(end))) end += 1;
  return end;
}

/** Returns the name without its quotes; `"\u0061"` is `a` too. */
function nameOf(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** Returns whether the double that JavaScript reads has the value of the number's text. */
function isKept(number: string): boolean {
  if (number.length <= SURELY_KEPT && !/e/i.test(number)) return true;
  const read = Number(number);
  return Number.isFinite(read) && canonical(number) === canonical(String(read));
}

/**
 * Returns the digits without outer zeros and their exponent: `12e-1` for `1.20` and `0.12e1`.
 * Loops, since a regular expression for the zeros of a million digits is not linear.
 */
function canonical(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let [first, end] = [0, digits.length];
  while (digits.charAt(first) === '0') first += 1;
  while (end > first && digits.charAt(end - 1) === '0') end -= 1;
  if (first === end) return '0';
  const power = Number(exponent) + digits.length - end - fraction.length;
  return `${digits.slice(first, end)}e${String(power)}`;
}
