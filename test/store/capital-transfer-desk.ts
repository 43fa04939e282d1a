/**
 * Capital transfers on a real database, worked on by the real activities, with a provider that says
 * what a test wants.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createTransferActivities } from '../../activities/capital-transfers/activities.ts';
import type { TransferProvider } from '../../domain/capital-transfers/provider.ts';
import type { TransferRow } from '../../domain/capital-transfers/step.ts';
import type { TransferAccountType } from '../../domain/capital-transfers/topology.ts';
import type { CapitalTransferActivities } from '../../domain/messages.ts';
import {
  createTransfer,
  readTransferRow,
  type CreateTransferOutcome,
} from '../../store/capital-transfers.ts';
import { inActivity } from '../support/activity-environment.ts';
import type { StoreBench } from './support.ts';

export interface NewTransferOfTest {
  readonly source?: string;
  readonly account_type?: TransferAccountType;
  readonly amount?: string;
  readonly idempotency_key?: string;
  /** Refused when the pool's snapshot does not cover it. */
  readonly covered?: boolean;
  readonly callback_url?: string;
  readonly venue_entries?: string;
}

export interface TransferDesk {
  create(more?: NewTransferOfTest): Promise<CreateTransferOutcome>;
  /** A new one's id. */
  made(more?: NewTransferOfTest): Promise<string>;
  row(id: string): Promise<TransferRow>;
  /** Runs one activity as a worker would; a retryable failure is thrown. */
  submit(id: string, epoch?: number): Promise<void>;
  look(id: string): ReturnType<CapitalTransferActivities['lookTransfer']>;
}

export const FRESH_SECONDS = 3_600;

/**
 * `provider` answers everything but its accounts, which are those of every transfer made here.
 */
export function transferDesk(
  bench: StoreBench,
  provider: Partial<TransferProvider>,
  pendingSeconds = 900,
  clocks: Map<string, number> = new Map(),
): TransferDesk {
  const [source, destination] = [`s-${randomUUID()}`, `d-${randomUUID()}`];
  const bound: TransferProvider = {
    provider: 'test',
    scope: 'test',
    accounts: [source, destination].map((venue_key) => ({
      venue_key,
      provider: 'test',
      scope: 'test',
      role: 'sub',
    })),
    same_key_safe: true,
    settle_seconds: 0,
    timeout_seconds: 2,
    in_process: true,
    submit: () => Promise.reject(new Error('not expected')),
    find: () => Promise.reject(new Error('not expected')),
    ...provider,
  };
  const activities = createTransferActivities({
    db: bench.db,
    log: pino({ level: 'silent' }),
    providers: [bound],
    clocks: { differences: clocks },
    pendingSeconds,
    refreshBalances: () => undefined,
  });
  const row = async (id: string): Promise<TransferRow> => {
    const found = await readTransferRow(bench.db, id);
    if (found === null) throw new Error(`no transfer ${id}`);
    return found;
  };
  const desk: TransferDesk = {
    row,
    create: (more = {}) => create(bench, { source, destination, ...more }),
    made: async (more) => {
      const outcome = await desk.create(more);
      if (outcome.created !== true) throw new Error('nothing was created');
      return outcome.transfer_id;
    },
    submit: async (id, epoch) => {
      const args = { transfer_id: id, epoch: epoch ?? (await row(id)).epoch };
      await inActivity(() => activities.submitTransfer(args));
    },
    look: (id) => inActivity(() => activities.lookTransfer({ transfer_id: id })),
  };
  return desk;
}

function create(
  bench: StoreBench,
  of: NewTransferOfTest & { readonly source: string; readonly destination: string },
): Promise<CreateTransferOutcome> {
  const {
    source,
    destination,
    account_type = 'SPOT',
    amount = '1',
    idempotency_key = randomUUID(),
    covered = false,
    callback_url = null,
    venue_entries = null,
  } = of;
  const hold = { venue_key: source, account_type, asset: 'USDC', amount };
  return createTransfer(
    bench.db,
    {
      source_venue: source,
      source_account_type: account_type,
      destination_venue: destination,
      destination_account_type: 'SPOT',
      asset: 'USDC',
      amount,
      reason: 'a test',
      strategy_id: null,
      provider: 'test',
      venue_entries,
      callback_url,
      client_scope: 'tests',
      idempotency_key,
      request: { amount },
      created_by: {},
    },
    {
      hold,
      take: { venues: covered ? [source] : [], stale_after_seconds: FRESH_SECONDS },
      event: { event_type: 'transfer_created', message: 'Created', actor: { type: 'system' } },
      audit: () => [],
    },
  );
}
