/** What callers and executors sent is shown redacted as in a log, wherever it is shown. */
import { readFileSync } from 'node:fs';
import { tamper } from '../support/audit-tools.ts';
import { create, get, must, noop, registered, shared, sql } from '../support/http.ts';

const RAW = `0x02f8${'ab'.repeat(120)}`;
const HIDDEN = ['hidden-1', 'hidden-2', 'hidden-3', 'hidden-4', 'hidden-5', RAW.slice(0, 40)];
const SENT = {
  tx_hash: `0x${'cd'.repeat(32)}`,
  apiKey: 'hidden-1',
  deep: [{ privateKey: 'hidden-2', bytes: RAW }],
  hmac_secret: { value: 'hidden-3' },
  endpoint: 'https://user:hidden-4@rpc.example/path',
};
const SHOWN = {
  tx_hash: SENT.tx_hash,
  apiKey: '[redacted]',
  deep: [
    {
      privateKey: '[redacted]',
      bytes: expect.stringMatching(/^0x02f8abab…\(\d+ hex digits\)$/) as unknown,
    },
  ],
  hmac_secret: '[redacted]',
  endpoint: 'https://rpc.example/path',
};
const MESSAGE = `could not reach https://user:hidden-4@rpc.example/v2/hidden-5 with ${RAW}`;
const SAID = expect.stringMatching(
  /^could not reach https:\/\/rpc\.example\/… with 0x02f8abab…\(\d+ hex digits\)$/,
) as unknown;

test('in a movement: input, labels, outputs, artifacts, errors and its timeline', async () => {
  const { movement_id } = await create(await registered([noop('a')]), {
    input_params: SENT,
    labels: { cookie: 'hidden-1', team: 'desk' },
  });
  await sql('UPDATE movement_nodes SET output = $2, error_message = $3 WHERE movement_id = $1', [
    movement_id,
    SENT,
    MESSAGE,
  ]);
  await sql('UPDATE movements SET error_message = $2 WHERE movement_id = $1', [
    movement_id,
    MESSAGE,
  ]);
  await tamper(shared.databaseUrl, [
    'UPDATE timeline_events SET data = $2, message = $3 WHERE movement_id = $1',
    movement_id,
    SENT,
    MESSAGE,
  ]);

  const detail = await must(200, get(`/movements/${movement_id}`));
  expect(detail).toMatchObject({
    input_params: SHOWN,
    labels: { cookie: '[redacted]', team: 'desk' },
    error_message: SAID,
    nodes: [{ output: SHOWN, error_message: SAID }],
  });
  const timeline = await must(200, get(`/movements/${movement_id}/timeline`));
  expect(timeline).toMatchObject([{ data: SHOWN, message: SAID }]);
  for (const hidden of HIDDEN) expect(JSON.stringify([detail, timeline])).not.toContain(hidden);
});

test('a secret of the service’s own is not shown either', async () => {
  const { movement_id } = await create(await registered([noop('a')]));
  const key = readFileSync(shared.toolEnv['SVC_SECRETS_KEY_FILE'] ?? '', 'utf8').trim();
  expect(key.length).toBeGreaterThan(20);
  await sql('UPDATE movement_nodes SET error_message = $2 WHERE movement_id = $1', [
    movement_id,
    `key ${key} is no good`,
  ]);
  expect(await must(200, get(`/movements/${movement_id}`))).toMatchObject({
    nodes: [{ error_message: 'key [redacted] is no good' }],
  });
});
