/**
 * Has the perps venue approve agents that callers asked for, and looks after those that it has.
 * That an agent was approved is said by the venue's own list; its answer to the approval is no
 * proof.
 */
import type { Logger } from 'pino';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { AuditAction } from '../../domain/events.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';
import { AGENT_WALLET_TABLE, type AgentWalletState } from '../../domain/states/agent-wallet.ts';
import { assertMove } from '../../domain/states/table.ts';
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

/** How many are looked at in one turn, at the same time. */
const MOST = 10;
/** How long one turn may take, and how long nobody else takes its wallets. */
const TURN_MS = 45_000;
const LEASE_SECONDS = 60;

const HOUR_MS = 3_600_000;
/** The same bytes are sent so long after their nonce: well within the time that it is taken. */
const SENT_FOR_MS = 24 * HOUR_MS;
/** The venue takes a nonce for two days; an hour more, for clocks. */
const LOOKED_FOR_MS = 49 * HOUR_MS;

/**
 * A list that does not show it so long after its nonce was used never will: the venue carries an
 * action out with its nonce, within seconds; the rest is for a list that lags.
 */
const LISTED_WITHIN_MS = HOUR_MS / 2;

/** Between two looks at one that is active. */
const ACTIVE_SECONDS = 60;
/** The same of one that is pending: a quarter of its age, between these. */
const SOONEST_SECONDS = 1;
const LATEST_SECONDS = 300;

/** Signers that operators have not taken away; a rotation leaves the master's with it. */
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
  /** The worker stops. */
  readonly ending: AbortSignal;
  /** The master's agents: as they were told in this turn, or asked anew. */
  agents(anew?: 'anew'): Promise<readonly ListedAgent[]>;
}

/** What a look came to: another state, or nothing but what is wrong. */
interface Finding {
  readonly to?: AgentWalletState;
  readonly error: string | null;
  /** The venue says that its nonce is used. */
  readonly nonce_used?: true;
}

/** Any number of processes may do this: a wallet is one process's at a time. */
export function startAgentWalletTender(options: AgentWalletOptions): Loop {
  const ending = new AbortController();
  const loop = startLoop({
    name: 'agent wallet tender',
    pauseMs: options.pauseMs,
    log: options.log,
    work: async () => {
      const due = await takeAgentWallets(options.db, LEASE_SECONDS, MOST);
      const turn = turnOf(options, ending.signal);
      await Promise.all(
        due.map((wallet) =>
          tend(turn, wallet).catch((error: unknown) =>
            options.log.warn(
              { err: error, wallet_id: wallet.wallet_id },
              'an agent wallet could not be looked after',
            ),
          ),
        ),
      );
      return due.length === MOST;
    },
  });
  return {
    ...loop,
    stop: () => {
      // A call that is left in the middle is made again by somebody else, with the same bytes.
      ending.abort();
      return loop.stop();
    },
  };
}

function turnOf(options: AgentWalletOptions, ending: AbortSignal): Turn {
  const { client, venue } = options.perp;
  const signal = AbortSignal.any([ending, AbortSignal.timeout(TURN_MS)]);
  const call = { signal, requestId: 'agent-wallet-tender' };
  let told: Promise<readonly ListedAgent[]> | undefined;
  return {
    ...options,
    ...{ call, ending },
    agents: (anew) => {
      if (anew !== undefined) return client.agents(venue.account, call);
      told ??= client.agents(venue.account, call);
      return told;
    },
  };
}

async function tend(turn: Turn, wallet: DueWallet): Promise<void> {
  const { db, log } = turn;
  const { wallet_id, state: from, lease } = wallet;
  const { to, error, ...used } = await findingOf(turn, wallet);
  const note = { wallet_id, from, last_error: error };
  if (to === undefined) {
    // Cut off in the middle it says nothing about the wallet, which is the next one's at once.
    const left = turn.ending.aborted ? { last_error: wallet.last_error, next_seconds: 0 } : null;
    const next_seconds = nextSeconds(wallet, from);
    await noteAgentWallet(db, { ...note, ...used, to: null, lease, next_seconds, ...left });
    return;
  }
  assertMove(AGENT_WALLET_TABLE, from, to);
  const next_seconds = to === 'active' ? nextSeconds(wallet, to) : null;
  const audit = auditOf(wallet, to, error);
  if (await noteAgentWallet(db, { ...note, to, next_seconds, audit }))
    log.info({ wallet_id, from, to, error }, 'an agent wallet has another state');
}

/** What keeps a look from its end is told at the wallet, and the look repeated. */
async function findingOf(turn: Turn, wallet: DueWallet): Promise<Finding> {
  try {
    return await look(turn, wallet);
  } catch (error) {
    if (error instanceof ExecutorFault || error instanceof SignerFault)
      return { error: error.message };
    turn.log.warn({ err: error, wallet_id: wallet.wallet_id }, 'a look at an agent wallet failed');
    return { error: 'the last look failed; the log of the worker says why' };
  }
}

async function look(turn: Turn, wallet: DueWallet): Promise<Finding> {
  // Whatever the venue still lists: nobody may rely on it any more.
  if (Date.parse(wallet.valid_until) <= Date.parse(wallet.at))
    return { to: 'expired', error: wallet.last_error };
  const elsewhere = mismatch(turn.perp, wallet);
  if (elsewhere !== null) return { error: elsewhere };
  const seen = listing(await turn.agents(), wallet);
  if (wallet.state === 'active')
    return { error: seen === 'listed' ? null : `${seen}; it cannot be relied on` };
  if (seen === 'listed') return { to: 'active', error: null };
  const age = Date.parse(wallet.at) - wallet.nonce;
  if (age >= LOOKED_FOR_MS)
    return { to: 'refused', error: `${seen} when its nonce's window was over` };
  if (wallet.nonce_used_at !== null) return afterItsNonce(wallet, wallet.nonce_used_at, seen);
  if (age >= SENT_FOR_MS)
    return { error: `${seen}; it is not sent any more, and looked for until it can come no more` };
  return approve(turn, wallet);
}

/** Its bytes can be carried out no more; whether they were, a list says that is new enough. */
function afterItsNonce({ at }: DueWallet, usedAt: string, seen: string): Finding {
  return Date.parse(at) - Date.parse(usedAt) >= LISTED_WITHIN_MS
    ? { to: 'refused', error: `${seen} half an hour after its nonce was used` }
    : { error: `${seen}; its nonce is used, so the venue carried it out or refused it` };
}

/** The master that was named is another one than this process is bound to. */
function mismatch({ venue }: PerpAccess, wallet: DueWallet): string | null {
  return sameEvmAddress(venue.account, wallet.master_address) &&
    venue.network.toLowerCase() === wallet.network
    ? null
    : 'the perp entry of the venues file is not that of the master account';
}

/** `listed`, or what the venue's list shows in its place. */
function listing(agents: readonly ListedAgent[], wallet: DueWallet): string {
  const found = agents.find(
    ({ name, address }) => name === wallet.agent_name && sameEvmAddress(address, wallet.address),
  );
  if (found === undefined) return 'not listed by the venue';
  return found.valid_until === Date.parse(wallet.valid_until)
    ? 'listed'
    : `listed until ${new Date(found.valid_until).toISOString()}, which is not what was signed,`;
}

/** Sends the approval, always the same bytes; whether that came to anything the list says. */
async function approve(turn: Turn, wallet: DueWallet): Promise<Finding> {
  const body = await approvalOf(turn, wallet);
  if (typeof body !== 'string') return body;
  const answer = await turn.perp.client.send(body, turn.call);
  if (answer.kind === 'refused')
    // With its nonce gone these bytes can never be carried out; else they still may be.
    return answer.consumed
      ? { to: 'refused', error: answer.message }
      : { error: `the venue refused it: ${answer.message}` };
  const seen = listing(await turn.agents('anew'), wallet);
  if (seen === 'listed') return { to: 'active', error: null };
  return answer.kind === 'used'
    ? {
        error: `${seen}; its nonce is used, so the venue carried it out or refused it`,
        nonce_used: true,
      }
    : { error: `${seen} yet, though it took the approval` };
}

/** The body that is sent, or why nothing is. What was signed is stored before anybody sends it. */
async function approvalOf(turn: Turn, wallet: DueWallet): Promise<string | Finding> {
  const { db, perp, signers } = turn;
  const { signer_key, signer_status, master_address, nonce } = wallet;
  if (!SIGNING.includes(signer_status))
    return { error: `the master's signer ${signer_key} is ${signer_status}` };
  if ((await readCutover(db)).mode === 'frozen')
    return { error: 'nothing is signed while the cutover mode is frozen' };
  const act = buildAct({
    ...{ type: 'approveAgent', network: perp.venue.network, nonce },
    agent_address: wallet.address,
    agent_name: wallet.agent_name,
    valid_until_ms: Date.parse(wallet.valid_until),
  });
  let { signature } = wallet;
  if (signature === null) {
    const signer = signers.get(signer_key);
    if (signer === undefined)
      return { error: `the master's signer ${signer_key} is not known to this worker` };
    const given = await signer.signEvmTypedData(act.typed_data, master_address);
    const asked = { payload: act.typed_data, address: master_address };
    const verified = await verifiedTypedData(asked, given.signature);
    signature = await saveApprovalSignature(db, wallet.wallet_id, verified.signature);
    // Somebody else has brought it to its end.
    if (signature === null) return { error: wallet.last_error };
  }
  return bodyOf(act, { nonce, signature });
}

/** How long until the next look, which is not later than the end of its time. */
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
  if (action === undefined) throw new Error(`no look brings a wallet to ${to}`);
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
