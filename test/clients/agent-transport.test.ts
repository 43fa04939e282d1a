/** At run time too nothing leaves a program of an agent but what its table has. */
import fc from 'fast-check';
import { only } from '../../clients/agent/only.ts';
import { CLI_OPERATIONS } from '../../clients/fundagent/operations.ts';
import { OPERATIONS } from '../../clients/http/generated/operations.ts';
import type { Reply, Sent } from '../../clients/http/transport.ts';
import { TOOL_OPERATIONS } from '../../clients/mcp/operations.ts';

const PREFIX = '/v3';
const reply: Reply = {
  status: 200,
  body: {},
  headers: new Headers(),
  text: '{}',
  requestId: null,
  replayed: false,
};

/** What went through of a request, as method and target. */
async function through(
  table: Readonly<Record<string, { method: 'GET' | 'POST'; path: string }>>,
  { method, target, signed = true }: { method: string; target: string; signed?: boolean },
  prefix: string | null = PREFIX,
): Promise<boolean> {
  const gone: Sent[] = [];
  const send = only(
    Object.values(table),
    () => prefix,
    (sent) => {
      gone.push(sent);
      return Promise.resolve(reply);
    },
  );
  const sent = {
    operation: 'x',
    method,
    target,
    headers: {},
    signed,
    writes: true,
    harmless: true,
  };
  await send(sent).catch((error: unknown) => {
    if (!(error instanceof Error && error.name === 'ClientUsageError')) throw error;
  });
  return gone.length === 1;
}

const filled = (path: string, value: string): string =>
  path.replace(/\{[^}]+\}/g, encodeURIComponent(value));

describe.each([
  ['the tool server', TOOL_OPERATIONS],
  ['the agent CLI', CLI_OPERATIONS],
])('%s', (_, table) => {
  const own = Object.values(table).map(({ method, path }) => `${method} ${path}`);

  test('sends its own operations, and refuses every other of the API', async () => {
    for (const { method, path } of Object.values(OPERATIONS)) {
      const sent = await through(table, { method, target: PREFIX + filled(path, 'a b') });
      expect([method, path, sent]).toEqual([method, path, own.includes(`${method} ${path}`)]);
    }
  });

  test('whatever stands in a parameter never becomes another path', async () => {
    const writes = Object.values(OPERATIONS).filter(
      ({ method, path }) => method !== 'GET' && !own.includes(`${method} ${path}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...writes),
        fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !/\p{Cs}/u.test(text)),
        fc.constantFrom('', '?', '/', '//', '/../', '%2F', '#', ';'),
        async ({ method, path }, value, more) => {
          const target = PREFIX + filled(path, value) + more;
          expect(await through(table, { method, target })).toBe(false);
          expect(await through(table, { method, target: `${PREFIX}/whoami/..${target}` })).toBe(
            false,
          );
        },
      ),
    );
  });

  test.each(['.', '..', '%2E', '%2e%2E', '.%2e'])(
    'sends no %s, which would be taken out of its path',
    async (dots) => {
      for (const { method, path } of Object.values(table)) {
        if (!path.includes('{')) continue;
        const target = PREFIX + path.replace(/\{[^}]+\}/g, dots);
        expect([target, await through(table, { method, target })]).toEqual([target, false]);
        const named = PREFIX + path.replace(/\{[^}]+\}/g, `a${dots}b`);
        if (!/%2e/.test(dots))
          expect([named, await through(table, { method, target: named })]).toEqual([named, true]);
      }
    },
  );

  test('sends nothing but the question for the prefix before that is known', async () => {
    expect(await through(table, { method: 'GET', target: '/v3/whoami' }, null)).toBe(false);
    const health = { method: 'GET', target: '/healthz', signed: false };
    expect(await through(table, health, null)).toBe(true);
    expect(await through(table, { ...health, signed: true }, null)).toBe(false);
  });
});
