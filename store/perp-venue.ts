/**
 * Stores the perps venue's master account, bindings and agent wallets
 * (prisma/functions/perp-venue.sql).
 */
import type {
  AgentWallet,
  PerpAccount,
  PerpBinding,
  PerpMaster,
} from '../domain/perps/registry.ts';
import type { AgentWalletState } from '../domain/states/agent-wallet.ts';
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { writeAudited } from './audited-write.ts';
import { auditRow } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOf, isoOfOrNull } from './json.ts';

/**
 * The outcome of a change. Only `created` and `changed` wrote anything; `same`: the row had these
 * values already.
 */
type Written<Row, Outcome extends string> = {
  readonly outcome: Outcome;
  readonly row: Row;
};

export type MasterChange = Written<PerpMaster, 'created' | 'same' | 'master_account_exists'>;

export type BindingChange =
  | Written<PerpBinding, 'created' | 'same' | 'strategy_binding_exists' | 'sub_account_bound'>
  | { readonly outcome: 'master_account_missing' };

export type PauseChange = Written<PerpBinding, 'changed' | 'same'>;

export type WalletChange =
  | Written<AgentWallet, 'created' | 'same' | 'agent_wallet_pending'>
  | {
      readonly outcome: 'agent_name_taken' | 'agent_address_reused' | 'valid_until_out_of_range';
    };

/** Returns the master account; null if none is registered. */
export async function readPerpMaster(db: Database): Promise<PerpMaster | null> {
  const rows = await run(
    () => db.sql<{ row: PerpMaster }>`SELECT to_jsonb(m) AS row FROM perp_master m`,
  );
  return rows[0] === undefined ? null : toMaster(rows[0].row);
}

export async function createPerpMaster(
  db: Database,
  master: Omit<PerpMaster, 'created_at'>,
  audit: AuditEntry,
): Promise<MasterChange> {
  const answer = await once<MasterChange>(db, audit, (row) => {
    const doc = JSON.stringify({ master, audit: [row] });
    return db.sql<{ answer: MasterChange }>`SELECT create_perp_master(${doc}::jsonb) AS answer`;
  });
  return { outcome: answer.outcome, row: toMaster(answer.row) };
}

/** Returns a strategy's binding; null for a strategy that is not bound. */
export async function readPerpBinding(
  db: Database,
  strategyId: string,
): Promise<PerpBinding | null> {
  const rows = await run(
    () => db.sql<{ row: PerpBinding }>`
      SELECT perp_binding_view(b) AS row FROM perp_bindings b WHERE strategy_id = ${strategyId}`,
  );
  return rows[0] === undefined ? null : toBinding(rows[0].row);
}

export async function createPerpBinding(
  db: Database,
  binding: Pick<PerpBinding, 'strategy_id' | 'sub_account_address' | 'max_agent_balance'>,
  audit: AuditEntry,
): Promise<BindingChange> {
  const answer = await once<BindingChange>(db, audit, (row) => {
    const doc = JSON.stringify({ binding, audit: [row] });
    return db.sql<{ answer: BindingChange }>`SELECT create_perp_binding(${doc}::jsonb) AS answer`;
  });
  return 'row' in answer ? { outcome: answer.outcome, row: toBinding(answer.row) } : answer;
}

/** Pauses or unpauses a strategy; null for a strategy that is not bound. */
export async function pausePerpBinding(
  db: Database,
  wanted: { readonly strategy_id: string; readonly paused: boolean; readonly reason: string },
  audit: AuditEntry,
): Promise<PauseChange | null> {
  const doc = JSON.stringify({ ...wanted, audit: [auditRow(db, audit)] });
  const rows = await run(
    () =>
      db.sql<{
        answer: PauseChange | null;
      }>`SELECT pause_perp_binding(${doc}::jsonb) AS answer`,
  );
  const answer = rows[0]?.answer ?? null;
  return answer === null ? null : { outcome: answer.outcome, row: toBinding(answer.row) };
}

/**
 * Stores an agent wallet with the nonce of its approval, which a worker sends. Null for a strategy
 * that is not bound. `valid_until` null: as long as the venue allows.
 */
export async function createAgentWallet(
  db: Database,
  wallet: Pick<AgentWallet, 'strategy_id' | 'agent_name' | 'signer_key' | 'address'> & {
    readonly valid_until: string | null;
  },
  audit: AuditEntry,
): Promise<WalletChange | null> {
  const fields = { ...wallet, wallet_id: newId(), address: wallet.address.toLowerCase() };
  const answer = await once<WalletChange | null>(db, audit, (row) => {
    const doc = JSON.stringify({ wallet: fields, audit: [row] });
    return db.sql<{
      answer: WalletChange | null;
    }>`SELECT create_perp_wallet(${doc}::jsonb) AS answer`;
  });
  return answer !== null && 'row' in answer
    ? { outcome: answer.outcome, row: toWallet(answer.row) }
    : answer;
}

/** The most wallets, or open movements, in one result; the newest are returned. */
const MOST_SHOWN = 200;

/** Returns a strategy's wallets, newest first; null for a strategy that is not bound. */
export async function listAgentWallets(
  db: Database,
  strategyId: string,
): Promise<readonly AgentWallet[] | null> {
  const rows = await run(
    () => db.sql<{ wallets: readonly AgentWallet[] | null }>`
      SELECT perp_wallets_of(${strategyId}, ${MOST_SHOWN}::integer) AS wallets`,
  );
  return rows[0]?.wallets?.map(toWallet) ?? null;
}

export interface OpenMovement {
  readonly movement_id: string;
  readonly request_state: string;
  readonly template_key: string;
  readonly asset: string;
  readonly amount: string;
  readonly created_at: string;
}

/** The stored state of a strategy, without a call to the venue. */
export interface StrategyState {
  /** The database's time. */
  readonly at: string;
  readonly binding: PerpBinding;
  /** The account whose balances are the strategy's: its sub-account, else the master account. */
  readonly account: string;
  readonly agent_wallets: readonly AgentWallet[];
  /** The newest movements that have not ended. `open_movement_count` counts all of them. */
  readonly open_movements: readonly OpenMovement[];
  readonly open_movement_count: number;
  /** The venue's last report of the account; null before the first report. */
  readonly seen: PerpAccount | null;
}

/**
 * Returns the state; null for a strategy that is not bound. `authority`: only this agent's
 * movements are included; null: all.
 */
export async function readStrategyState(
  db: Database,
  { strategy_id, authority }: { readonly strategy_id: string; readonly authority: string | null },
): Promise<StrategyState | null> {
  const rows = await run(
    () => db.sql<{ state: StrategyState | null }>`
      SELECT perp_strategy_state(${strategy_id}, ${authority}, ${MOST_SHOWN}::integer) AS state`,
  );
  const state = rows[0]?.state ?? null;
  return (
    state && {
      at: isoOf(state.at),
      binding: toBinding(state.binding),
      account: state.account,
      agent_wallets: state.agent_wallets.map(toWallet),
      open_movements: state.open_movements.map((each) => ({
        ...each,
        created_at: isoOf(each.created_at),
      })),
      open_movement_count: state.open_movement_count,
      seen: state.seen && { ...state.seen, checked_at: isoOf(state.seen.checked_at) },
    }
  );
}

/** Stores the venue's report of an account; ignores a report that is older than the stored one. */
export async function notePerpAccount(
  db: Database,
  seen: PerpAccount & { readonly address: string },
): Promise<void> {
  const doc = JSON.stringify({ ...seen, address: seen.address.toLowerCase() });
  await run(() => db.sql`SELECT note_perp_account(${doc}::jsonb)`);
}

/** A wallet that the caller handles until its lease ends. */
export interface DueWallet {
  readonly wallet_id: string;
  readonly strategy_id: string;
  readonly agent_name: string;
  readonly address: string;
  readonly valid_until: string;
  readonly state: AgentWalletState;
  readonly last_error: string | null;
  /** Time at which the venue first reported the approval's nonce as used; null: never. */
  readonly nonce_used_at: string | null;
  /** Proves, when the caller writes, that it still holds the wallet's lease. */
  readonly lease: string;
  /** Nonce of the wallet's approval, in milliseconds since 1970. */
  readonly nonce: number;
  readonly signature: string | null;
  readonly master_address: string;
  readonly network: string;
  /** The master's signer; `signer_status` is the status that operators set. */
  readonly signer_key: string;
  readonly signer_status: string;
  /** The database's time. */
  readonly at: string;
  readonly created_at: string;
}

/** Leases due wallets that no other process has, for `seconds`. */
export async function takeAgentWallets(
  db: Database,
  seconds: number,
  most: number,
): Promise<readonly DueWallet[]> {
  const rows = await run(
    () => db.sql<{ wallets: readonly DueWallet[] }>`
      SELECT take_perp_wallets(${seconds}::double precision, ${most}::integer) AS wallets`,
  );
  return (rows[0]?.wallets ?? []).map((each) => ({
    ...each,
    valid_until: isoOf(each.valid_until),
    created_at: isoOf(each.created_at),
    nonce_used_at: each.nonce_used_at === null ? null : isoOf(each.nonce_used_at),
    at: isoOf(each.at),
  }));
}

/**
 * Stores the signature that approves a wallet and returns the signature to send: the first one that
 * was stored. Called right before each send. Null, with nothing stored, when the wallet must no
 * longer be approved, in the mode `frozen`, or when the master's signer may not sign; then nothing
 * may be sent.
 */
export async function saveApprovalSignature(
  db: Database,
  walletId: string,
  signature: string,
): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ stored: string | null }>`
      SELECT save_perp_approval(${walletId}::uuid, ${signature}) AS stored`,
  );
  return rows[0]?.stored ?? null;
}

/** The result of a look at a wallet. */
export type WalletNote = {
  readonly wallet_id: string;
  readonly from: AgentWalletState;
  readonly last_error: string | null;
  /** Seconds until the next look; null: no further look. */
  readonly next_seconds: number | null;
} & (
  | {
      readonly to: null;
      readonly lease: string;
      /** Whether the venue reports the nonce of the wallet's approval as used. */
      readonly nonce_used?: true;
    }
  | { readonly to: AgentWalletState; readonly audit: AuditEntry }
);

/**
 * Writes a wallet's next state, or the time of its next look. False when the wallet is in another
 * state by now, or another process has leased it.
 */
export async function noteAgentWallet(db: Database, note: WalletNote): Promise<boolean> {
  const audit = note.to === null ? [] : [auditRow(db, note.audit)];
  const doc = JSON.stringify({ ...note, audit });
  const rows = await run(
    () => db.sql<{ written: boolean }>`SELECT note_perp_wallet(${doc}::jsonb) AS written`,
  );
  return rows[0]?.written ?? false;
}

/** Runs a change that is safe to repeat: a repeat finds the change already made. */
async function once<Answer>(
  db: Database,
  audit: AuditEntry,
  write: Parameters<typeof writeAudited<Answer>>[2],
): Promise<Answer> {
  const answer = await writeAudited(db, { audit, outcome: 'created' }, write);
  if (answer === null) throw new Error('the change of the perps venue returned no row');
  return answer;
}

function toMaster(row: PerpMaster): PerpMaster {
  const { master_address, signer_key, network, label, created_at } = row;
  return { master_address, signer_key, network, label, created_at: isoOf(created_at) };
}

function toBinding(row: PerpBinding): PerpBinding {
  return {
    strategy_id: row.strategy_id,
    sub_account_address: row.sub_account_address,
    max_agent_balance: row.max_agent_balance,
    paused: row.paused,
    pause_reason: row.pause_reason,
    paused_changed_at: isoOfOrNull(row.paused_changed_at),
    created_at: isoOf(row.created_at),
    updated_at: isoOf(row.updated_at),
  };
}

function toWallet(row: AgentWallet): AgentWallet {
  return {
    wallet_id: row.wallet_id,
    strategy_id: row.strategy_id,
    agent_name: row.agent_name,
    signer_key: row.signer_key,
    address: row.address,
    valid_until: isoOf(row.valid_until),
    state: row.state,
    last_error: row.last_error,
    created_at: isoOf(row.created_at),
    updated_at: isoOf(row.updated_at),
    approved_at: isoOfOrNull(row.approved_at),
  };
}
