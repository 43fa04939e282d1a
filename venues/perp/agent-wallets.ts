/**
 * Sends the approvals of requested agents to the perps venue, and watches the approved agents. Only
 * the venue's own list proves an approval; its answer to the request does not.
 */
import type { Logger } from 'pino';
import { ExecutorFault, type CallOptions, type SendOptions } from '../../domain/executor.ts';
import type { AuditAction } from '../../domain/events.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';
import { AGENT_WALLET_TABLE, type AgentWalletState } from '../../domain/states/agent-wallet.ts';
import { assertMove } from '../../domain/states/table.ts';
import { settleEach, throwFirst } from '../../platform/at-once.ts';
import { limitedByStops } from '../../platform/deadline.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { verifiedTypedData } from '../../signers/verify.ts';
import { readCutover } from '../../store/cutover.ts';
import {
  noteAgentWallet,
  saveApprovalSignature,
  takeAgentWallets,
  type DueWallet,
} from '../../store/perp-venue.ts';
import type { PerpAccess } from './access.ts';
import { bodyOf, buildAct } from './actions.ts';
import type { ListedAgent } from './client.ts';

/** Most wallets that one turn handles, in parallel. */
const MOST = 10;
/** Longest duration of one turn, in milliseconds; its wallets are leased for LEASE_SECONDS. */
const TURN_MS = 45_000;
const LEASE_SECONDS = 60;

const HOUR_MS = 3_600_000;
/**
 * How long after the time of its nonce an approval is sent again, always with the same bytes. The
 * venue accepts the nonce for much longer.
 */
const SENT_FOR_MS = 24 * HOUR_MS;
/**
 * How long after the time of its nonce an approved agent may appear in the venue's list: the venue
 * accepts a nonce for two days; one more hour allows for clock differences.
 */
const LOOKED_FOR_MS = 49 * HOUR_MS;

/**
 * An agent that is not listed this long after its nonce was used never will be: the venue carries
 * an action out within seconds, and the rest allows for a list that lags.
 */
const LISTED_WITHIN_MS = HOUR_MS / 2;

/** Seconds between two checks of an active wallet. */
const ACTIVE_SECONDS = 60;
/** Bounds in seconds between two checks of a pending wallet; the pause is a quarter of its age. */
const SOONEST_SECONDS = 1;
const LATEST_SECONDS = 300;

/**
 * States in which a signer may sign; after a rotation the master's earlier signer is deprecated.
 */
const SIGNING: readonly string[] = ['active', 'deprecated'];

export interface AgentWalletOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly perp: PerpAccess;
  readonly signers: { get(key: string): Signer | undefined };
  readonly pauseMs: number;
}

interface Turn extends AgentWalletOptions {
  readonly call: CallOptions;
  /** Aborts when the worker stops. */
  readonly ending: AbortSignal;
  /**
   * Lists the master's agents: from one read for the whole turn, or from a new read with `anew`.
   */
  agents(anew?: 'anew'): Promise<readonly ListedAgent[]>;
}

/** The result of a check: a new state, or only an error; null: no error. */
interface Finding {
  readonly to?: AgentWalletState;
  readonly error: string | null;
  /** The venue reports the nonce of the approval as used. */
  readonly nonce_used?: true;
}

/** Starts the loop. Many processes may run it: each wallet is leased to one process at a time. */
export function startAgentWalletTender(options: AgentWalletOptions): Loop {
  const ending = new AbortController();
  const loop = startLoop({
    name: 'agent wallet tender',
    pauseMs: options.pauseMs,
    log: options.log,
    work: async () => {
      const due = await takeAgentWallets(options.db, LEASE_SECONDS, MOST);
      const turn = turnOf(options, ending.signal);
      // A venue or signer that does not answer is noted at the wallet, and fails no turn.
      const outcomes = await settleEach(due, MOST, async (wallet) => {
        try {
          await tend(turn, wallet);
        } catch (error) {
          const { wallet_id } = wallet;
          options.log.warn({ err: error, wallet_id }, 'an agent wallet could not be checked');
          throw error;
        }
      });
      throwFirst(outcomes);
      return due.length === MOST;
    },
  });
  return {
    ...loop,
    stop: () => {
      // Another worker repeats an interrupted call with the same bytes.
      ending.abort();
      return loop.stop();
    },
  };
}

function turnOf(options: AgentWalletOptions, ending: AbortSignal): Turn {
  const { client, venue } = options.perp;
  const signal = AbortSignal.any([ending, AbortSignal.timeout(TURN_MS)]);
  const call = { signal, requestId: 'agent-wallet-tender' };
  let listed: Promise<readonly ListedAgent[]> | undefined;
  return {
    ...options,
    call,
    ending,
    agents: (anew) => {
      if (anew !== undefined) return client.agents(venue.account, call);
      listed ??= client.agents(venue.account, call);
      return listed;
    },
  };
}

async function tend(turn: Turn, wallet: DueWallet): Promise<void> {
  const { db, log } = turn;
  const { wallet_id, state: from, lease } = wallet;
  const { to, error, ...used } = await findingOf(turn, wallet);
  const note = { wallet_id, from, last_error: error };
  if (to === undefined) {
    // An interrupted check says nothing about the wallet; the next worker takes the wallet at once.
    const left = turn.ending.aborted ? { last_error: wallet.last_error, next_seconds: 0 } : null;
    const next_seconds = nextSeconds(wallet, from);
    await noteAgentWallet(db, { ...note, ...used, to: null, lease, next_seconds, ...left });
    return;
  }
  assertMove(AGENT_WALLET_TABLE, from, to);
  const next_seconds = to === 'active' ? nextSeconds(wallet, to) : null;
  const audit = auditOf(wallet, to, error);
  if (await noteAgentWallet(db, { ...note, to, next_seconds, audit }))
    log.info({ wallet_id, from, to, error }, 'an agent wallet changed its state');
}

/** Returns the result of a check. Records a failed check at the wallet; the check is repeated. */
async function findingOf(turn: Turn, wallet: DueWallet): Promise<Finding> {
  try {
    return await look(turn, wallet);
  } catch (error) {
    if (error instanceof ExecutorFault || error instanceof SignerFault)
      return { error: error.message };
    turn.log.warn({ err: error, wallet_id: wallet.wallet_id }, 'an agent wallet check failed');
    return { error: 'the last check failed; the log of the worker says why' };
  }
}

async function look(turn: Turn, wallet: DueWallet): Promise<Finding> {
  // An expired agent cannot be relied on, even if the venue still lists it.
  if (Date.parse(wallet.valid_until) <= Date.parse(wallet.at))
    return { to: 'expired', error: wallet.last_error };
  const elsewhere = mismatch(turn.perp, wallet);
  if (elsewhere !== null) return { error: elsewhere };
  const seen = listing(await turn.agents(), wallet);
  if (wallet.state === 'active')
    return { error: seen === 'listed' ? null : `${seen}; the agent cannot be relied on` };
  if (seen === 'listed') return { to: 'active', error: null };
  const age = Date.parse(wallet.at) - wallet.nonce;
  if (age >= LOOKED_FOR_MS)
    return { to: 'refused', error: `${seen} when its nonce's window was over` };
  if (wallet.nonce_used_at !== null) return afterItsNonce(wallet, wallet.nonce_used_at, seen);
  if (age >= SENT_FOR_MS)
    return {
      error: `${seen}; the approval is no longer sent, but the venue's list is read until its nonce expires`,
    };
  return approve(turn, wallet);
}

/**
 * Decides once the nonce is used: the bytes can no longer be carried out, and a list that is new
 * enough shows whether the venue carried out the approval.
 */
function afterItsNonce({ at }: DueWallet, usedAt: string, seen: string): Finding {
  return Date.parse(at) - Date.parse(usedAt) >= LISTED_WITHIN_MS
    ? { to: 'refused', error: `${seen} half an hour after its nonce was used` }
    : { error: `${seen}; its nonce is used, so the venue carried it out or refused it` };
}

/** Returns why this process's venue entry is not that of the wallet's master; null if it is. */
function mismatch({ venue }: PerpAccess, wallet: DueWallet): string | null {
  return sameEvmAddress(venue.account, wallet.master_address) &&
    venue.network.toLowerCase() === wallet.network
    ? null
    : 'the perp entry of the venues file is not that of the master account';
}

/** Returns `listed`, or what the venue's list shows instead. */
function listing(agents: readonly ListedAgent[], wallet: DueWallet): string {
  const found = agents.find(
    ({ name, address }) => name === wallet.agent_name && sameEvmAddress(address, wallet.address),
  );
  if (found === undefined) return 'not listed by the venue';
  return found.valid_until === Date.parse(wallet.valid_until)
    ? 'listed'
    : `listed until ${new Date(found.valid_until).toISOString()}, which is not what was signed,`;
}

/** Sends the approval, always the same bytes; the venue's list shows whether it took effect. */
async function approve(turn: Turn, wallet: DueWallet): Promise<Finding> {
  const approval = await approvalOf(turn, wallet);
  if (!('body' in approval)) return approval;
  const answer = await turn.perp.client.send(approval.body, approval.call);
  if (answer.kind === 'refused')
    // With a used nonce these bytes can never be carried out; otherwise they still may be.
    return answer.consumed
      ? { to: 'refused', error: answer.message }
      : { error: `the venue refused the approval: ${answer.message}` };
  const seen = listing(await turn.agents('anew'), wallet);
  if (seen === 'listed') return { to: 'active', error: null };
  return answer.kind === 'used'
    ? {
        error: `${seen}; its nonce is used, so the venue carried it out or refused it`,
        nonce_used: true,
      }
    : { error: `${seen} yet, though it accepted the approval` };
}

/** An approval as it may be sent now. */
interface Approval {
  readonly body: string;
  readonly call: SendOptions;
}

/**
 * Returns what to send, or why nothing is sent. Stores the signature before the body is sent, and
 * reads mode and signer again after a remote signer, which may be slow.
 */
async function approvalOf(turn: Turn, wallet: DueWallet): Promise<Approval | Finding> {
  const { db, perp, signers } = turn;
  const { signer_key, signer_status, master_address, nonce } = wallet;
  if (!SIGNING.includes(signer_status))
    return { error: `the master's signer ${signer_key} is ${signer_status}` };
  if ((await readCutover(db)).mode === 'frozen')
    return { error: 'nothing is signed while the cutover mode is frozen' };
  const act = buildAct({
    type: 'approveAgent',
    network: perp.venue.network,
    nonce,
    agent_address: wallet.address,
    agent_name: wallet.agent_name,
    valid_until_ms: Date.parse(wallet.valid_until),
  });
  let { signature } = wallet;
  if (signature === null) {
    const signer = signers.get(signer_key);
    if (signer === undefined)
      return { error: `the master's signer ${signer_key} is not known to this worker` };
    const returned = await signer.signEvmTypedData(act.typed_data, master_address);
    const request = { payload: act.typed_data, address: master_address };
    const verified = await verifiedTypedData(request, returned.signature);
    signature = verified.signature;
  }
  const call = limitedByStops(turn.call);
  // Also for a stored signature: mode and signer may have changed since they were read above.
  const first = await saveApprovalSignature(db, wallet.wallet_id, signature);
  return first === null
    ? { error: STOPPED }
    : { body: bodyOf(act, { nonce, signature: first }), call };
}

/** Not shown for a wallet that another worker has settled meanwhile. */
const STOPPED =
  "the approval was not sent: meanwhile the cutover mode became frozen, or the master's signer may no longer sign";

/** Returns the seconds until the next check, at the latest when the wallet expires. */
function nextSeconds({ created_at, valid_until, at }: DueWallet, state: AgentWalletState): number {
  const now = Date.parse(at);
  const age = (now - Date.parse(created_at)) / 1_000;
  const pause =
    state === 'active'
      ? ACTIVE_SECONDS
      : Math.min(LATEST_SECONDS, Math.max(SOONEST_SECONDS, age / 4));
  return Math.max(SOONEST_SECONDS, Math.min(pause, (Date.parse(valid_until) - now) / 1_000));
}

const ACTIONS: Readonly<Partial<Record<AgentWalletState, AuditAction>>> = {
  active: 'perp_agent_wallet.activate',
  refused: 'perp_agent_wallet.refuse',
  expired: 'perp_agent_wallet.expire',
};

function auditOf(wallet: DueWallet, to: AgentWalletState, error: string | null) {
  const action = ACTIONS[to];
  if (action === undefined) throw new Error(`no audit action exists for the wallet state ${to}`);
  return {
    action,
    entity_type: 'perp_agent_wallet',
    entity_key: `${wallet.strategy_id}/${wallet.agent_name}`,
    outcome: to === 'refused' ? 'failed' : 'success',
    actor_role: 'system',
    ...(to === 'refused' ? { reason: error } : {}),
    details: { wallet_id: wallet.wallet_id, address: wallet.address },
  } as const;
}
