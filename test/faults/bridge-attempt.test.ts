/** An API that dies between a bridge attempt's proposal and its movement. */
import pg from 'pg';
import { eventually, MovementApi, ownStack } from '../support/own-stack.ts';

const own = ownStack({ split: true });

/**
 * Holds every new movement until it is released; `waiting` is the backend that waits to write one,
 * and not one of the worker, which waits as well.
 */
async function holdMovements(): Promise<{
  waiting(): Promise<number>;
  release(): Promise<void>;
}> {
  const client = new pg.Client({ connectionString: own.stack.databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE movements IN SHARE ROW EXCLUSIVE MODE');
  return {
    waiting: () =>
      eventually(async () => {
        const [row] = await own.query<{ pid: number }>(
          `SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
           WHERE l.relation = 'movements'::regclass AND NOT l.granted
             AND a.query LIKE '%create_movement%'`,
        );
        return row?.pid ?? null;
      }),
    release: async () => {
      await client.query('ROLLBACK');
      await client.end();
    },
  };
}

test.each([
  ['before the movement is written', true],
  ['while the database writes the movement', false],
])(
  'a kill %s leaves no half: a repeat with the key ends it, with one movement',
  async (_what, unwritten) => {
    const key = `attempt-${String(unwritten)}`;
    const { chain, keys, apiUrl } = own.stack;
    const agent = new MovementApi(apiUrl, keys.agent);
    const body = {
      asset: 'USDC',
      protocol_family: 'onchain_transfer',
      proposal_kind: 'ephemeral',
      source_chain: 'local-chain',
      destination_chain: 'local-chain',
      destination_chain_id: chain.chainId,
      destination_address: chain.accounts.treasury.address,
      signer_profile: 'treasury',
      requested_notional: '12',
      ttl_seconds: 600,
    };
    const attempt = () =>
      agent.send('POST', '/agent-authorities/dev/bridge-attempt', body, { 'Idempotency-Key': key });
    const held = await holdMovements();
    const broken = attempt().catch(() => null);
    const pid = await held.waiting();
    await own.stack.kill('api');
    expect(await broken).toBeNull();
    if (unwritten) await own.query('SELECT pg_terminate_backend($1)', [pid]);
    await held.release();
    const made = async () =>
      own.query<{ movement_id: string }>(
        `SELECT movement_id FROM movements m JOIN template_proposals p
           ON m.client_scope = 'bridge-attempt' AND m.idempotency_key = p.proposal_id::text
         WHERE p.idempotency_key = $1`,
        [key],
      );
    // The running statement ends by itself, even without its client.
    await eventually(async () => ((await made()).length === (unwritten ? 0 : 1) ? true : null));
    await own.stack.startChild('api');
    const ended = await eventually(async () => {
      const answer = await attempt();
      return answer.status === 200 ? answer : null;
    });
    expect(ended.body).toMatchObject({ status: 'auto_promoted', movement_id: expect.any(String) });
    const movements = await made();
    expect(movements.map(({ movement_id }) => movement_id)).toEqual([ended.body['movement_id']]);
    const [proposals] = await own.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM template_proposals WHERE idempotency_key = $1',
      [key],
    );
    expect(proposals?.count).toBe(1);
  },
  90_000,
);
