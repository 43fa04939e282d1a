/** The venue's state, computed from its journal's entries. */
import type { Hex } from '../kit/hex.ts';
import type { Effect, Entry, Row } from './events.ts';

interface Account {
  perp: bigint;
  spot: bigint;
  /** Traded volume in millionths, which decides whether the account may create sub-accounts. */
  volume: bigint;
}

export interface SubAccount {
  readonly master: Hex;
  readonly name: string;
  readonly address: Hex;
}

export interface Agent {
  /** Empty for the agent without a name. */
  readonly name: string;
  readonly address: Hex;
  readonly validUntil: number;
  readonly approvedAt: number;
}

interface Payout {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly chainNonce: number;
}

export interface Withdrawal {
  readonly key: string;
  readonly user: Hex;
  readonly destination: Hex;
  readonly net: bigint;
  readonly nonce: number;
  readonly requestedAt: number;
  payout: Payout | null;
  paid: boolean;
}

export interface Deposit {
  readonly key: string;
  readonly from: Hex;
  readonly units: bigint;
  readonly credited: boolean;
}

export interface Book {
  readonly accounts: Map<Hex, Account>;
  /** Sub-accounts by their addresses. */
  readonly subAccounts: Map<Hex, SubAccount>;
  /** Agents by master and name. */
  readonly agents: Map<Hex, Map<string, Agent>>;
  /** Every address that was ever an agent. */
  readonly agentsEver: Set<Hex>;
  /** When each master last removed an agent, in milliseconds. */
  readonly agentGoneAt: Map<Hex, number>;
  /** Every admitted nonce, by signer. */
  readonly nonces: Map<Hex, Set<number>>;
  readonly rows: Row[];
  readonly withdrawals: Map<string, Withdrawal>;
  readonly deposits: Map<string, Deposit>;
  /** The highest chain nonce that the bridge has signed with; -1 at first. */
  chainNonce: number;
}

export function emptyBook(): Book {
  return {
    accounts: new Map(),
    subAccounts: new Map(),
    agents: new Map(),
    agentsEver: new Set(),
    agentGoneAt: new Map(),
    nonces: new Map(),
    rows: [],
    withdrawals: new Map(),
    deposits: new Map(),
    chainNonce: -1,
  };
}

/** Applies a journal entry to the book. */
export function note(book: Book, entry: Entry): void {
  if (entry.kind === 'exchange' && entry.admitted && entry.signer !== null && entry.nonce !== null)
    kept(book.nonces, entry.signer, () => new Set<number>()).add(entry.nonce);
  for (const effect of entry.effects) apply(book, effect, entry.at);
}

function apply(book: Book, effect: Effect, at: number): void {
  switch (effect.does) {
    case 'change':
      accountOf(book, effect.user)[effect.pool] += BigInt(effect.by);
      return;
    case 'row':
      book.rows.push(effect.row);
      return;
    case 'traded':
      accountOf(book, effect.user).volume = BigInt(effect.volume);
      return;
    case 'sub_account': {
      const { master, name, address } = effect;
      book.subAccounts.set(address, { master, name, address });
      accountOf(book, address);
      return;
    }
    case 'agent': {
      const { master, name, address, validUntil } = effect;
      const agents = kept(book.agents, master, () => new Map<string, Agent>());
      agents.set(name, { name, address, validUntil, approvedAt: at });
      book.agentsEver.add(address);
      return;
    }
    case 'agent_gone':
      book.agents.get(effect.master)?.delete(effect.name);
      book.agentGoneAt.set(effect.master, at);
      return;
    case 'withdrawal': {
      const { key, user, destination, net, nonce } = effect;
      book.withdrawals.set(key, {
        key,
        user,
        destination,
        nonce,
        net: BigInt(net),
        requestedAt: at,
        payout: null,
        paid: false,
      });
      return;
    }
    case 'payout_signed': {
      const { raw, hash, chainNonce } = effect;
      withdrawalOf(book, effect.key).payout = { raw, hash, chainNonce };
      book.chainNonce = Math.max(book.chainNonce, chainNonce);
      return;
    }
    case 'payout_failed':
      withdrawalOf(book, effect.key).payout = null;
      return;
    case 'paid':
      withdrawalOf(book, effect.key).paid = true;
      return;
    case 'deposit': {
      const { key, from, units, credited } = effect;
      book.deposits.set(key, { key, from, units: BigInt(units), credited });
    }
  }
}

/** Returns an account's balance in millionths; 0 for an address without account. */
export function balanceOf(book: Book, user: Hex, pool: 'perp' | 'spot'): bigint {
  return book.accounts.get(user)?.[pool] ?? 0n;
}

export function subAccountsOf(book: Book, master: Hex): readonly SubAccount[] {
  return [...book.subAccounts.values()].filter((each) => each.master === master);
}

/** Returns the master's agents that may sign now. */
export function agentsOf(book: Book, master: Hex, now: number): readonly Agent[] {
  return [...(book.agents.get(master)?.values() ?? [])].filter((each) => each.validUntil > now);
}

/** Returns the master whose agent the address is now; null for any other address. */
export function masterOf(book: Book, agent: Hex, now: number): Hex | null {
  for (const master of book.agents.keys())
    if (agentsOf(book, master, now).some(({ address }) => address === agent)) return master;
  return null;
}

function accountOf(book: Book, user: Hex): Account {
  return kept(book.accounts, user, () => ({ perp: 0n, spot: 0n, volume: 0n }));
}

function withdrawalOf(book: Book, key: string): Withdrawal {
  const found = book.withdrawals.get(key);
  if (found === undefined) throw new Error(`there is no withdrawal ${key}`);
  return found;
}

function kept<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
