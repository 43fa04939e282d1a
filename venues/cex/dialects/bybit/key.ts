/** What an API key of Bybit is and may do (docs/bybit-facts.md, 12). */
import type { z } from 'zod';
import type { CallOptions } from '../../../../domain/executor.ts';
import { ask, read } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { Dialect } from '../../dialect.ts';
import * as answers from './answers.ts';

/** The account of a key. */
export interface Identity {
  readonly uid: string;
  readonly isMaster: boolean;
}

type KeyInfo = z.output<typeof answers.keyInfo>;

const kept = new WeakMap<CexConnection, Identity>();

/** Returns the account of the connection's key, which never changes. */
export async function identityOf(connection: CexConnection, call: CallOptions): Promise<Identity> {
  return kept.get(connection) ?? keep(connection, await readKey(connection, call));
}

function keep(connection: CexConnection, info: KeyInfo): Identity {
  const identity = identityIn(info);
  kept.set(connection, identity);
  return identity;
}

/** As `bindingFault` of the dialect. */
export const bindingFault: NonNullable<Dialect['bindingFault']> = async (
  connection,
  { account, account_role },
  call,
) => {
  const { uid, isMaster } = await identityOf(connection, call);
  if (account !== uid) return `the API key is of the account ${uid}, not of ${account}`;
  if ((account_role === 'master') === isMaster) return null;
  return isMaster
    ? "the API key is a master's, but bound as of a sub-account"
    : "the API key is a sub-account's, but bound as of a master";
};

/**
 * As `keyFault` of the dialect. A sub-account cannot withdraw (3), so no key of it needs the
 * permission. Whether a key may move funds between accounts only matters where they are moved: a
 * key that may not is refused then.
 */
export async function keyFault(
  connection: CexConnection,
  { withdraw }: Parameters<Dialect['keyFault']>[1],
  call: CallOptions,
): Promise<string | null> {
  const info = await readKey(connection, call);
  const { isMaster } = keep(connection, info);
  if (info.uta !== '1') return 'the account is not a unified trading account';
  if (info.readOnly !== '0') return 'the API key may only read';
  const permissions = info.permissions.Wallet ?? [];
  if (!permissions.includes('AccountTransfer'))
    return 'the API key may not read balances: it lacks Account Transfer';
  if (!withdraw || !isMaster || permissions.includes('Withdraw')) return null;
  return 'the API key may not withdraw';
}

function readKey(connection: CexConnection, call: CallOptions): Promise<KeyInfo> {
  const schema = answers.resultOf(answers.keyInfo);
  return ask(connection, 'privateGetV5UserQueryApi', {}, call, schema);
}

/** A uid that is too long for `userID` is in `userIDInt64`, which else is 0. */
function identityIn({ userID, userIDInt64, isMaster }: KeyInfo): Identity {
  const uid = userIDInt64 === null || userIDInt64 === '0' ? userID : userIDInt64;
  return { uid: read(answers.uid, uid), isMaster };
}
