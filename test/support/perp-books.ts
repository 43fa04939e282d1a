/** The calls and balances of the simulated perps venue, read by a client that is not ours. */
import type { StackPerp } from '../../dev/stack/perp.ts';

/** A call of `/exchange` as the venue has written it down. */
export interface Heard {
  readonly body: string;
  readonly nonce: number | null;
  readonly admitted: boolean;
  readonly answer: unknown;
  readonly answered: boolean;
}

export interface PerpBooks {
  /** What an account may withdraw, in units of the asset. */
  withdrawable(account: string): Promise<string>;
  /** The rows of one type in an account's ledger. */
  rows(account: string, type: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Calls with this type of action, oldest first. */
  heard(type: string): Promise<readonly Heard[]>;
  /** Makes a sub-account of the master; its address. */
  subAccount(name: string): Promise<string>;
  /** Adds money to an account. */
  fund(account: string, perp: string): Promise<void>;
  /** Sets the venue's faults as a whole; null ends them. */
  faults(wish: object | null): Promise<void>;
}

export function perpBooks({ url, account: master }: StackPerp): PerpBooks {
  const json = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`);
    return answer.json();
  };
  const ask = (question: object): Promise<unknown> => json('POST', '/info', question);
  return {
    withdrawable: async (user) => {
      const state = await ask({ type: 'clearinghouseState', user: user.toLowerCase() });
      return (state as { withdrawable: string }).withdrawable;
    },
    rows: async (user, type) => {
      const answer = await ask({
        type: 'userNonFundingLedgerUpdates',
        startTime: 0,
        user: user.toLowerCase(),
      });
      return (answer as { delta: Record<string, unknown> }[])
        .map(({ delta }) => delta)
        .filter((delta) => delta['type'] === type);
    },
    heard: async (type) => {
      const { entries } = (await json('GET', '/journal')) as { entries: Heard[] };
      return entries.filter(({ body }) => {
        const { action } = JSON.parse(body) as { action?: { type?: string } };
        return action?.type === type;
      });
    },
    subAccount: async (name) =>
      ((await json('POST', '/accounts', { master, name })) as { address: string }).address,
    fund: async (address, perp) => void (await json('POST', '/accounts', { address, perp })),
    faults: async (wish) =>
      void (await (wish === null ? json('DELETE', '/faults') : json('POST', '/faults', wish))),
  };
}
