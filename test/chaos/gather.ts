/** Collects the evidence of a run from the API, the database, Temporal, the venue and the chain. */
import { createPublicClient, http, type Address, type Hash } from 'viem';
import type { TransferEntry } from '../../dev/simulators/paper-venue/transfer-views.ts';
import type { LedgerEntry } from '../../dev/simulators/paper-venue/views.ts';
import { capitalTransferWorkflowId, movementWorkflowId } from '../../domain/messages.ts';
import { transfersOnChain } from '../support/evidence.ts';
import { poolName, type PoolKey } from '../support/movement-model.ts';
import type { CapitalLife } from './capital.ts';
import type { CapitalEvidence, Evidence, MovementEvidence, SignedRow } from './evidence.ts';
import { readHoldings } from '../support/holdings.ts';
import { plansOf, POLICY_STRATEGY, type Life } from './life.ts';
import type { Received } from './receiver.ts';
import type { Run } from './run-stack.ts';

const AT_ONCE = 8;

/** All evidence, gathered while nothing moves. */
export async function gather(
  run: Run,
  known: {
    readonly lives: readonly Life[];
    readonly capitalLives: readonly CapitalLife[];
    readonly received: readonly Received[];
    readonly delivers: boolean;
    readonly over: boolean;
  },
): Promise<Evidence> {
  const { query, stack } = run;
  const [
    movements,
    capital,
    ledger,
    transfers,
    unappliedCommands,
    callbacks,
    audit,
    pools,
    holds,
    signed,
    lanes,
    holdings,
    usage,
    pending,
  ] = await Promise.all([
    movementsOf(run, known.lives),
    capitalOf(run),
    fetch(`${stack.paperVenueUrl}/ledger`).then(
      async (answer) => ((await answer.json()) as { entries: readonly LedgerEntry[] }).entries,
    ),
    transfersOnChain(stack.chain),
    query<Evidence['unappliedCommands'][number]>(
      'SELECT movement_id::text, kind, wakes FROM commands WHERE applied_at IS NULL',
    ),
    query<Evidence['callbacks'][number]>(
      'SELECT event_id::text, movement_id::text, event_type, sequence, status, last_error FROM callbacks ORDER BY movement_id, sequence',
    ),
    query<Evidence['audit'][number]>(
      `SELECT action, entity_key, outcome FROM audit_events WHERE entity_type = 'movement'`,
    ),
    query<Evidence['pools'][number]>(
      `SELECT concat_ws('/', venue_key, account_type, asset) AS pool,
        trim_scale(held)::text AS held FROM reservation_pools`,
    ),
    query<Evidence['holds'][number]>(
      `SELECT concat_ws('/', venue_key, account_type, asset) AS pool,
        coalesce(movement_id, transfer_id)::text AS movement_id, trim_scale(amount)::text AS amount
       FROM reservations WHERE status = 'held'`,
    ),
    signedOf(run),
    lanesOf(run),
    readHoldings(query, plansOf(known.lives)),
    usageOf(run),
    pendingOf(run),
  ]);
  const found = {
    movements,
    capital,
    ledger,
    transfers,
    unappliedCommands,
    callbacks,
    audit,
    pools,
    holds,
    signed,
    lanes,
  };
  return { ...known, ...found, holdings, usage, pending, orders: run.team.orders() };
}

async function usageOf(run: Run): Promise<Evidence['usage']> {
  const { policies } = await run.read<{ readonly policies: readonly Evidence['usage'][] }>(
    `/budgets/${POLICY_STRATEGY}`,
  );
  const [only] = policies;
  if (only === undefined) throw new Error('the policy of the run has no budget');
  return only;
}

/** Every pool as a fetch that begins now shows it. */
async function pendingOf(run: Run): Promise<Evidence['pending']> {
  const read = async (query: string) =>
    (
      await run.read<{
        readonly balances: readonly (PoolKey & { readonly svc_pending_outflow: string })[];
      }>(`/balances${query}`)
    ).balances;
  const venues = new Set((await read('')).map(({ venue_key }) => venue_key));
  // Only a named venue is read anew.
  const fetched = await Promise.all(
    [...venues].map((venue) => read(`?fresh=true&venue_key=${encodeURIComponent(venue)}`)),
  );
  return fetched.flat().map(({ svc_pending_outflow, ...pool }) => ({
    pool: poolName(pool),
    amount: svc_pending_outflow,
  }));
}

async function movementsOf(run: Run, lives: readonly Life[]): Promise<readonly MovementEvidence[]> {
  const scripts = new Map(lives.map(({ idempotency_key, script }) => [idempotency_key, script]));
  const rows = await run.query<
    Pick<MovementEvidence, 'movement_id' | 'idempotency_key' | 'callback_url' | 'ended' | 'amount'>
  >(
    `SELECT movement_id::text, idempotency_key, callback_url, ended_at IS NOT NULL AS ended,
      trim_scale(amount)::text AS amount
     FROM movements ORDER BY created_at`,
  );
  const found: MovementEvidence[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const some = rows.slice(at, at + AT_ONCE).map(async (row): Promise<MovementEvidence> => {
      const [view, timeline, run_status] = await Promise.all([
        run.read<MovementEvidence>(`/movements/${row.movement_id}`),
        run.read<MovementEvidence['timeline']>(`/movements/${row.movement_id}/timeline`),
        run.statusOfRun(movementWorkflowId(row.movement_id)),
      ]);
      const script = scripts.get(row.idempotency_key ?? '');
      const amounts = [
        row.amount,
        ...(script?.node_config?.['amount'] === undefined ? [] : [script.node_config['amount']]),
      ];
      return { ...view, ...row, timeline, run_status, plan: script?.plan ?? null, amounts };
    });
    found.push(...(await Promise.all(some)));
  }
  return found;
}

async function capitalOf({ query, stack, statusOfRun }: Run): Promise<readonly CapitalEvidence[]> {
  const rows = await query<Omit<CapitalEvidence, 'run_status' | 'record'>>(
    `SELECT t.transfer_id::text, idempotency_key, request_state,
      trim_scale(t.amount)::text AS amount, r.status AS hold,
       (SELECT json_agg(json_build_object('sequence', e.sequence, 'from_state', e.from_state,
         'to_state', e.to_state) ORDER BY e.sequence)
        FROM capital_transfer_events e WHERE e.transfer_id = t.transfer_id) AS timeline
     FROM capital_transfers t LEFT JOIN reservations r USING (transfer_id) ORDER BY t.created_at`,
  );
  const answer = await fetch(`${stack.paperVenueUrl}/transfers`);
  const { entries } = (await answer.json()) as { readonly entries: readonly TransferEntry[] };
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      run_status: await statusOfRun(capitalTransferWorkflowId(row.transfer_id)),
      record: entries.find(({ client_reference }) => client_reference === row.transfer_id) ?? null,
    })),
  );
}

async function signedOf({ query, stack }: Run): Promise<readonly SignedRow[]> {
  const client = createPublicClient({ transport: http(stack.chain.rpcUrl) });
  const rows = await query<Omit<SignedRow, 'mined'>>(
    `SELECT movement_id::text, node_key, attempt, address, nonce::int, tx_hash
      FROM evm_transactions WHERE released_at IS NULL`,
  );
  return Promise.all(
    rows.map(async (row) => {
      if (row.tx_hash === null) return { ...row, mined: false };
      const receipt = await client
        .getTransactionReceipt({ hash: row.tx_hash as Hash })
        .catch(() => null);
      return { ...row, mined: receipt !== null };
    }),
  );
}

async function lanesOf({ query, stack }: Run): Promise<Evidence['lanes']> {
  const client = createPublicClient({ transport: http(stack.chain.rpcUrl) });
  const rows = await query<{ address: string; next_nonce: number }>(
    'SELECT address, next_nonce::int FROM nonce_lanes',
  );
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      mined_nonces: await client.getTransactionCount({ address: row.address as Address }),
    })),
  );
}
