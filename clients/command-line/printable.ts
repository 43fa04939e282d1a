/**
 * Makes text of other people safe for a terminal. Labels, messages and names come from callers,
 * venues and executors; such text must not move the cursor or change the order of text around it.
 */

/**
 * Control characters (C0 and C1), line separators, invisible characters, and characters that change
 * the direction of text.
 */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e0fff}]/gu;

/** Returns the text on one line, with unsafe characters as `\uXXXX` escapes. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** Returns text of several lines with each line made printable; the last line ends with `\n`. */
export function printableLines(text: string): string {
  return `${text.replace(/\n$/, '').split('\n').map(printable).join('\n')}\n`;
}

/** Returns JSON that is safe for a terminal and that parses to the same value. */
export function printableJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent);
  return text.replace(HIDDEN, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
