/** Reads the examples of docs/executors.md; what varies from run to run is compared by its form. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { ROOT } from '../../../dev/stack/ports.ts';

export interface Example {
  /** The heading's own words: `POST /submit`, or an activity's name. */
  readonly what: string;
  readonly request: unknown;
  readonly status: number;
  readonly answer: unknown;
}

/** The guide's section under `## <title>`, without the heading. */
export function sectionOf(title: string): string {
  const page = readFileSync(join(ROOT, 'docs', 'executors.md'), 'utf8');
  const [, rest] = page.split(`\n## ${title}\n`);
  if (rest === undefined) throw new Error(`docs/executors.md has no section "${title}"`);
  return rest.split('\n## ')[0] ?? '';
}

/**
 * Every example of a section in its order. A JSON block is what the line before it says: the
 * request (or argument) of the answers (or results) that follow.
 *
 * @throws Error for a block that is neither, so that none is left unread.
 */
export function examplesOf(title: string): readonly Example[] {
  const examples: Example[] = [];
  let [what, request]: [string | null, unknown] = [null, undefined];
  const lines = sectionOf(title).split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const heading = /^### .*?`(.+?)`/.exec(line)?.[1];
    if (heading !== undefined) [what, request] = [heading, undefined];
    const empty = /^Answer `(\d+)`, no body/.exec(line)?.[1];
    if (empty !== undefined && what !== null)
      examples.push({ what, request, status: Number(empty), answer: null });
    if (!line.startsWith('```')) continue;
    const end = lines.indexOf('```', index + 1);
    const body: unknown = JSON.parse(lines.slice(index + 1, end).join('\n'));
    const says = paragraphBefore(lines, index);
    index = end;
    const status = /^(?:Answer `(\d+)`|Result).*:$/.exec(says);
    if (line !== '```json' || what === null) throw new Error(`who reads the block after: ${says}`);
    if (/^(Request|Argument).*:$/.test(says)) request = body;
    else if (status === null) throw new Error(`neither a request nor an answer: ${says}`);
    else examples.push({ what, request, status: Number(status[1] ?? 200), answer: body });
  }
  return examples;
}

function paragraphBefore(lines: readonly string[], block: number): string {
  const end = block - 1;
  const begin = lines.lastIndexOf('', end - 1);
  return lines.slice(begin + 1, end).join(' ');
}

const VARIES = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/**
 * The same value with each id and each time by its number: two that differ in nothing else are
 * equal, and one that stands in two places has to be the same in both.
 */
export function byForm(value: unknown): unknown {
  const seen: string[] = [];
  const text = (canonicalize(value) ?? 'null').replace(VARIES, (found) => {
    if (!seen.includes(found)) seen.push(found);
    return `${found.includes('T') ? 'time' : 'id'} ${seen.indexOf(found)}`;
  });
  return JSON.parse(text) as unknown;
}

/** What varies in `shown`, by what stands there in `real`, for the examples that follow. */
export function bindings(shown: unknown, real: unknown): ReadonlyMap<string, string> {
  const [left, right] = [shown, real].map((each) => (canonicalize(each) ?? '').match(VARIES) ?? []);
  return new Map(left?.map((found, index) => [found, right?.[index] ?? '']));
}

/** `value` with what is bound put in. */
export function bound<T>(value: T, known: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value).replace(VARIES, (found) => known.get(found) ?? found);
  return JSON.parse(text) as T;
}
