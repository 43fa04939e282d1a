/** Wrong usage of `fundadmin webhooks` says what to do, before any database is reached. */
import { fundadmin } from '../../tools/command-line.ts';

const ENV = { SVC_DATABASE_URL: 'postgresql://127.0.0.1:1/nowhere' };

async function run(line: string, env: NodeJS.ProcessEnv = {}) {
  let err = '';
  const status = await fundadmin(line.split(' '), {
    env: { ...ENV, ...env },
    out: () => undefined,
    err: (text) => (err += text),
  });
  return { status, err };
}

const NAMED = 'webhooks set --name desk';
const SET = `${NAMED} --console-origin https://funds.example`;
const URL_OF = '--url https://hooks.example/in';

test.each([
  [`${SET} --url http://hooks.example/in`, 'https URL'],
  [`${SET} --url https://user@hooks.example/in`, 'https URL'],
  [`${SET} --url hooks.example`, 'https URL'],
  [`${SET} --url https://hooks.example/${'a'.repeat(2_048)}`, '2048'],
  [`${SET} ${URL_OF} --event all`, 'Allowed choices are movement.approval_needed'],
  [`${NAMED} ${URL_OF}`, 'SVC_CONSOLE_ORIGIN'],
  [`${SET}/path ${URL_OF}`, 'without a path'],
  [`${NAMED} ${URL_OF} --console-origin http://funds.example`, 'https://funds.example'],
  [`webhooks set --name Desk ${URL_OF}`, 'lower case'],
  ['webhooks remove --name -desk', 'lower case'],
  ['webhooks test --name desk_1', 'lower case'],
])('%s is refused: %s', async (line, reason) => {
  expect(await run(line)).toEqual({ status: 2, err: expect.stringContaining(reason) });
});

test('a host that this environment does not list is said, and a listed one is not', async () => {
  const said = 'does not list the host';
  const origin = { SVC_CONSOLE_ORIGIN: 'https://funds.example' };
  // What follows is that no database answers.
  expect(await run(`${NAMED} ${URL_OF}`, origin)).toMatchObject({
    status: 1,
    err: expect.stringContaining(said),
  });
  const listed = { ...origin, SVC_CALLBACK_ALLOWED_HOSTS_CSV: 'hooks.example' };
  expect((await run(`${NAMED} ${URL_OF}`, listed)).err).not.toContain(said);
});
