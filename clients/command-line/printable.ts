/**
 * Text of others before it reaches a terminal: labels, messages and names come from callers, venues
 * and executors, and must neither move the cursor nor reorder what stands beside them.
 */

/**
 * Control characters of both sets, line separators, and what changes the direction of writing or
 * cannot be seen.
 */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e0fff}]/gu;

/** The same text on one line, with what cannot be shown as escapes. */
export function printable(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** Text of several lines, each printable, with an end to the last. */
export function printableLines(text: string): string {
  return `${text.replace(/\n$/, '').split('\n').map(printable).join('\n')}\n`;
}

/** JSON whose text is as safe to look at; it parses to the same value. */
export function printableJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent);
  return text.replace(HIDDEN, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
