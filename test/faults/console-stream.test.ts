/**
 * The API is killed under an open stream of the console: who goes on by the cursor has missed
 * nothing of what happened meanwhile, and has nothing twice.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDashboardSigner } from '../../clients/http/sign.ts';
import { openStream, type SeenStream } from '../support/event-stream.ts';
import {
  eventually,
  startOwnStack,
  WITHDRAW_TO_TREASURY,
  type OwnStack,
} from '../support/own-stack.ts';

const KILLS = 3;
const room = mkdtempSync(join(tmpdir(), 'console-stream-'));
const secret = randomBytes(32).toString('hex');
let own: OwnStack;
beforeAll(async () => {
  const keysFile = join(room, 'dashboard-keys.json');
  writeFileSync(keysFile, JSON.stringify({ ada: { secret, role: 'operator' } }), { mode: 0o600 });
  own = await startOwnStack({
    split: true,
    env: {
      SVC_DASHBOARD_WRITER_KEYS_FILE: keysFile,
      SVC_DASHBOARD_EXPECTED_WRITER_KEYS: '1',
    },
  });
}, 180_000);
afterAll(async () => {
  await own?.close();
  rmSync(room, { recursive: true, force: true });
});

async function open(more: Readonly<Record<string, string>> = {}): Promise<SeenStream> {
  const origin = `http://localhost:${new URL(own.stack.apiUrl).port}`;
  const sign = createDashboardSigner({ operator: 'ada', secret }, async () => {
    const answer = await fetch(`${origin}/dashboard/nonce`);
    return ((await answer.json()) as { readonly nonce: string }).nonce;
  });
  const url = new URL('/dashboard/stream', origin);
  return openStream(url.href, { ...(await sign({ method: 'GET', url })), ...more });
}

test('after each kill a stream goes on where it was, with every change once', async () => {
  const ids: string[] = [];
  const events: string[] = [];
  let stream = await open();
  const begin = stream.cursor();
  const note = (): void => {
    ids.push(...stream.ids);
    events.push(...stream.events.map(({ event }) => event));
  };
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const made = await own.api.create(WITHDRAW_TO_TREASURY, { amount: `6${String(kill)}.5` });
    const isOf = ({ data }: SeenStream['events'][number]) =>
      data['movement_id'] === made.movement_id;
    await stream.until('the create', isOf);
    await own.api.approve(made);
    await own.stack.kill('api', 'SIGKILL');
    await stream.ended;
    note();
    // The worker goes on, without a stream that shows it.
    await eventually(
      async () => {
        const [row] = await own.query<{ request_state: string }>(
          'SELECT request_state FROM movements WHERE movement_id = $1',
          [made.movement_id],
        );
        return row?.request_state === 'COMPLETED' || null;
      },
      { timeoutMs: 90_000, what: () => 'the movement to complete without an API' },
    );
    const cursor = stream.cursor();
    await own.stack.startChild('api');
    stream = await open({ 'last-event-id': cursor });
    await stream.until(
      'what was missed',
      (event) => isOf(event) && event.data['state'] === 'COMPLETED',
    );
  }
  stream.close();
  await stream.ended;
  note();
  expect(events).not.toContain('reset');
  const [, xid = '', id = ''] = begin.split('.');
  const [, lastXid = '', lastId = ''] = (ids.at(-1) ?? '').split('.');
  const written = await own.query<{ id: string }>(
    `SELECT xid::text || '.' || id AS id FROM console_events
     WHERE (xid, id) > ($1::text::xid8, $2::bigint) AND (xid, id) <= ($3::text::xid8, $4::bigint)
     ORDER BY console_events.xid, console_events.id`,
    [xid, id, lastXid, lastId],
  );
  expect(written.length).toBeGreaterThan(KILLS * 3);
  expect(ids.map((each) => each.slice(each.indexOf('.') + 1))).toEqual(
    written.map((row) => row.id),
  );
}, 400_000);
