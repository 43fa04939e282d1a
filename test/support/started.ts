/** Parts that all tests of a file share: started before the first, stopped after the last. */

type Part = object & ({ close(): unknown } | { stop(): unknown });

const running: Part[] = [];

/**
 * What `start` returns, for hooks further down and tests; reading it earlier is an error. Called at
 * the top of a file alone, before other hooks: its parts stop in the reverse order of their starts,
 * and then the file's own `afterAll` runs.
 */
export function started<T extends Part>(start: () => Promise<T>, timeoutMs = 240_000): T {
  let part: T | undefined;
  beforeAll(async () => {
    part = await start();
    running.push(part);
  }, timeoutMs);
  afterAll(async () => {
    const last = running.pop();
    if (last !== undefined) await ('close' in last ? last.close() : last.stop());
  }, timeoutMs);
  return new Proxy({} as T, {
    get: (_, name) => {
      if (part === undefined) throw new Error(`${String(name)} is read before the part is started`);
      const member: unknown = Reflect.get(part, name);
      return typeof member === 'function' ? (member.bind(part) as unknown) : member;
    },
  });
}
