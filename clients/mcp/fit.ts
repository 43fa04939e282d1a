/** Limits the size of an answer, so that it fits into a model's context. */

/** Maximum characters of the structured content as JSON. */
const MOST = 60_000;
const MOST_TEXT = 8_000;
const LENGTHS = [128, 64, 32, 16];

/**
 * Returns the data with its texts cut until the data fits, and the text with a note about the cut.
 * Usual answers are not changed. Lists are not cut here: each list has its own limit.
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
