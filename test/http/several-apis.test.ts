/**
 * An API beside the stack's own over the same database: what is taken away over one of them holds
 * in the other with its next request, since nothing that guards money is remembered.
 */
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { createApi } from '../../api/app.ts';
import { createGuard } from '../../api/auth/guard.ts';
import { routes } from '../../venues/routes.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { parseSecretsKey } from '../../platform/secrets.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { dependencies } from '../api/support.ts';
import {
  approval,
  create,
  must,
  noop,
  patch,
  registered,
  sendAs,
  shared,
} from '../support/http.ts';
import { signedFetch } from '../support/signed-fetch.ts';
import { issueKey, tool } from '../support/tool.ts';

const ACTION_TYPE = 'test_elsewhere';
let db: Database;
let api: Listening;
beforeAll(async () => {
  const secretsKeys = parseSecretsKey(
    readFileSync(shared.toolEnv['SVC_SECRETS_KEY_FILE'] ?? '', 'utf8').trim(),
  );
  if (!secretsKeys.ok) throw new Error('the key of the stack cannot be read');
  db = connectDatabase({ url: shared.databaseUrl, poolSize: 2 });
  const log = pino({ level: 'silent' });
  const guard = createGuard({
    ...{ db, log, secretsKeys: secretsKeys.keys },
    ...{ maxSkewSeconds: 300, rateLimits: null },
  });
  const { descriptor } = createNoopExecutor();
  const executors = [
    { ...descriptor, executor_key: 'test.elsewhere', action_types: [ACTION_TYPE] },
  ];
  const deps = {
    ...dependencies({ authEnabled: true }),
    ...{ db, log, executors: { list: () => executors } },
  };
  api = await listen({ app: createApi(deps, routes, { guard }), host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await api?.close();
  await db?.$disconnect();
});

const beside = (key: SigningKey, method: string, path: string, body?: object): Promise<Response> =>
  signedFetch(key, `http://127.0.0.1:${String(api.port)}/v3${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

test('a key that is revoked is refused by an API that has just let it in', async () => {
  const key = await issueKey(
    ...['--client-name', 'several-apis', '--key-id', 'several-apis-1', '--role', 'operator'],
  );
  expect((await beside(key, 'GET', '/whoami')).status).toBe(200);
  await must(200, sendAs(key, 'GET', '/whoami'));
  expect((await tool(['keys', 'revoke', '--key-id', key.keyId])).status).toBe(0);
  expect((await beside(key, 'GET', '/whoami')).status).toBe(401);
  expect((await sendAs(key, 'GET', '/whoami')).status).toBe(401);
});

test('an executor that is switched off over one API approves nothing over the other', async () => {
  const { admin } = shared.keys;
  const movement = await create(await registered([noop('a', { action_type: ACTION_TYPE })]));
  const approve = () =>
    beside(admin, 'POST', `/movements/${movement.movement_id}/approve`, approval(movement));
  await must(200, patch('/executors/test.elsewhere', { status: 'disabled', reason: 'a test' }));
  const refused = await approve();
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { detail: { bindings: [{ key: 'test.elsewhere', reason: 'disabled' }] } },
  ]);
  await must(200, patch('/executors/test.elsewhere', { status: 'active' }));
  expect((await approve()).status).toBe(200);
});
