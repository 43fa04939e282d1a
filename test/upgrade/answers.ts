/**
 * What the API answers about everything that there is, and what of it another build answers no
 * more. The paths are read from its own document, so that a new route needs nothing here.
 */

/** By path, without the prefix. */
export type Answers = Readonly<Record<string, unknown>>;

type Json = Readonly<Record<string, unknown>>;

/** What an API without signatures answers to every GET that needs nothing but ids. */
export async function readAll(apiUrl: string, opsUrl: string): Promise<Answers> {
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${apiUrl}/v3${path}`, { signal: AbortSignal.timeout(30_000) });
    return answer.status === 200 ? ((await answer.json()) as unknown) : undefined;
  };
  const answers: Record<string, unknown> = {};
  const paths = (await pathsOf(opsUrl)).filter((path) => !UNSTEADY.test(path));
  for (const path of paths.filter((each) => !each.includes('{'))) {
    const answer = await get(path);
    if (answer !== undefined) answers[path] = answer;
  }
  for (const path of paths) {
    const [, list = '', name = '', rest = ''] = /^([^{]*)\/\{(\w+)\}([^{]*)$/.exec(path) ?? [];
    for (const item of itemsOf(answers[list])) {
      const id = item[name];
      const of = `${list}/${encodeURIComponent(String(id))}${rest}`;
      const answer = typeof id === 'string' ? await get(of) : undefined;
      if (answer !== undefined) answers[of] = answer;
    }
  }
  return answers;
}

/** Whoever asks is another, or what is answered comes from outside, or from where a loop is. */
const UNSTEADY = /^\/(whoami|dashboard|balances|audit\/seal)/;

async function pathsOf(opsUrl: string): Promise<readonly string[]> {
  const { paths } = (await (await fetch(`${opsUrl}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  return Object.entries(paths)
    .filter(([, methods]) => 'get' in methods)
    .map(([path]) => path.replace(/^\/v3/, ''))
    .sort();
}

function itemsOf(answer: unknown): readonly Json[] {
  if (Array.isArray(answer)) return answer as readonly Json[];
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.values(answer).filter(Array.isArray).flat() as readonly Json[];
}

/** What was answered the same way twice: the rest is of the moment, such as an age. */
export function steady(once: unknown, again: unknown): unknown {
  if (Array.isArray(once) && Array.isArray(again)) {
    const both = once.map((each, index) => steady(each, again[index]));
    return once.length === again.length && !both.includes(undefined) ? both : undefined;
  }
  if (isObject(once) && isObject(again))
    return Object.fromEntries(
      Object.entries(once)
        .map(([key, value]) => [key, steady(value, again[key])] as const)
        .filter(([, value]) => value !== undefined),
    );
  return once === again ? once : undefined;
}

/** Addresses of this machine's parts, and what the hour decides. */
const ELSEWHERE: ReadonlySet<string> = new Set(['ui_url', 'endpoint', 'attention', 'balances']);

/**
 * Where an answer of now lacks what was answered, or says otherwise. Fields that are new are no
 * loss. Times may be later by `shiftMs`, by which the open ones were moved.
 */
export function lost(before: unknown, now: unknown, shiftMs: number, at = ''): readonly string[] {
  if (before === undefined) return [];
  if (Array.isArray(before)) {
    if (!Array.isArray(now)) return [`${at}: ${say(now)} is no list`];
    if (now.length !== before.length)
      return [`${at}: ${String(now.length)} entries instead of ${String(before.length)}`];
    return before.flatMap((each, index) => lost(each, now[index], shiftMs, `${at}/${index}`));
  }
  if (isObject(before)) {
    if (!isObject(now)) return [`${at}: ${say(now)} instead of an object`];
    return Object.entries(before).flatMap(([key, value]) =>
      ELSEWHERE.has(key) ? [] : lost(value, now[key], shiftMs, `${at} ${key}`),
    );
  }
  if (before === now || isShifted(before, now, shiftMs)) return [];
  return [`${at}: ${say(now)} instead of ${say(before)}`];
}

function isShifted(before: unknown, now: unknown, shiftMs: number): boolean {
  if (typeof before !== 'string' || typeof now !== 'string') return false;
  return /^\d{4}-.*Z$/.test(before) && Math.abs(Date.parse(now) - Date.parse(before) - shiftMs) < 2;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function say(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
