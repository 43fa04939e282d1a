/** Agents and sub-accounts: who may sign for an account, and which accounts belong to it. */
import { keccak256, stringToHex } from 'viem';
import type { Hex } from '../kit/hex.ts';
import { Refused, type ActionContext, type Of } from './action-context.ts';
import { agentsOf, subAccountsOf, type Book } from './book.ts';
import type { Effect } from './events.ts';

const DAY_MS = 86_400_000;
/** Validity of an agent whose name sets no end. Measured (facts, part 3). */
const VALID_MS = 90 * DAY_MS;
/** Longest validity of an agent: 180 days. Source: DOC:exchange-endpoint, `approveAgent`. */
const VALID_AT_MOST_MS = 180 * DAY_MS;
/** Maximum number of named agents, plus two for each sub-account. Source: DOC:exchange-endpoint. */
const NAMED_AT_MOST = 3;
const NAMED_MORE_PER_SUB_ACCOUNT = 2;
/**
 * Maximum length of an agent's name without its suffix. Source: `approveAgent` of the npm package
 * @nktkas/hyperliquid 0.32.2.
 */
const NAME_LENGTH = 16;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
/**
 * Traded volume required for sub-accounts, in millionths of USDC. Source: DOC:trading/sub-accounts.
 */
const VOLUME_WANTED = 100_000_000_000n;
const SUB_ACCOUNTS_AT_MOST = 10;

/** Returns the effects of approving an agent; the zero address removes the agent of that name. */
export function performApproval(
  context: ActionContext,
  action: Of<'approveAgent'>,
): readonly Effect[] {
  const { book, user: master, now } = context;
  const { name, until } = readName(action.agentName ?? '');
  // This text is ours: no client sends a name that is too long. Source of all other texts: facts,
  // part 3.
  if (name.length > NAME_LENGTH) throw new Refused('Agent name is too long.');
  if (action.agentAddress === ZERO_ADDRESS) return [{ does: 'agent_gone', master, name }];
  const validUntil = until ?? now + VALID_MS;
  if (validUntil <= now || validUntil > now + VALID_AT_MOST_MS)
    throw new Refused('Agent valid_until already expired.');
  if (book.agentsEver.has(action.agentAddress)) throw new Refused('Extra agent already used.');
  const named = agentsOf(book, master, now).filter((each) => each.name !== '');
  const limit = NAMED_AT_MOST + NAMED_MORE_PER_SUB_ACCOUNT * subAccountsOf(book, master).length;
  const isNew = name !== '' && !named.some((each) => each.name === name);
  if (isNew && named.length >= limit)
    throw new Refused(
      `Too many extra agents for cumulative volume traded. Current limit is ${String(limit)}`,
    );
  return [{ does: 'agent', master, name, address: action.agentAddress, validUntil }];
}

/**
 * Splits off ` valid_until <milliseconds>`, which is not part of the name. Source:
 * DOC:exchange-endpoint.
 */
function readName(text: string): { readonly name: string; readonly until: number | null } {
  const match = /^(.*?) valid_until (\d{1,15})$/.exec(text);
  if (match === null) return { name: text, until: null };
  return { name: match[1] ?? '', until: Number(match[2]) };
}

export function performCreation(
  { book, user: master }: ActionContext,
  { name }: Of<'createSubAccount'>,
): { readonly address: Hex; readonly effects: readonly Effect[] } {
  const volume = book.accounts.get(master)?.volume ?? 0n;
  if (volume < VOLUME_WANTED)
    throw new Refused(
      'Cannot create sub-accounts until enough volume traded. ' +
        `Required: $100000. Traded: $${(volume / 1_000_000n).toString()}.`,
    );
  if (subAccountsOf(book, master).length >= SUB_ACCOUNTS_AT_MOST)
    throw new Refused('Too many sub-accounts.');
  const address = nextSubAccount(book, master);
  return { address, effects: [{ does: 'sub_account', master, name, address }] };
}

/**
 * Returns the address of the master's next sub-account. The venue's own rule is unknown; any
 * address without a private key is enough.
 */
export function nextSubAccount(book: Book, master: Hex): Hex {
  const index = String(subAccountsOf(book, master).length);
  return `0x${keccak256(stringToHex(`sub-account ${index} of ${master}`)).slice(-40)}`;
}
