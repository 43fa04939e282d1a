/** Holds an answer to what a model's context takes. */

/** Characters of the structured content as JSON. */
const MOST = 60_000;
const MOST_TEXT = 8_000;
const LENGTHS = [128, 64, 32, 16];

/**
 * The data with its texts cut until it fits, and the text with a line that says so. Usual answers
 * come as they are; the lists have ends of their own.
 */
export function fit(data: object, text: string): { readonly data: object; readonly text: string } {
  let fitting = data;
  const notes: string[] = [];
  for (const length of LENGTHS) {
    if (JSON.stringify(fitting).length <= MOST) break;
    fitting = cutTo(data, length) as object;
    notes[0] = `Texts were cut to ${String(length)} characters so that the answer fits; ask for fewer rows for whole ones.`;
  }
  if (text.length > MOST_TEXT) notes.push('More stands in the structured content.');
  return { data: fitting, text: [text.slice(0, MOST_TEXT), ...notes].join('\n') };
}

function cutTo(value: unknown, most: number): unknown {
  if (typeof value === 'string')
    return value.length <= most ? value : `${[...value].slice(0, most - 1).join('')}…`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => cutTo(each, most));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutTo(each, most)]));
}
