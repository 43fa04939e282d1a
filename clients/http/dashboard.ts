/**
 * The API for an operator, under `/dashboard/api`: reads by the browser's session, everything else
 * signed with the operator's own key. Cookies go to this origin alone.
 */
import { isObject, strange } from './answer.ts';
import { callsOver, transportOf, type Calls, type TransportChoices } from './client.ts';
import { ApiError, ClientUsageError, inDoubt } from './errors.ts';
import { groupsOver, type Groups } from './groups.ts';
import { createDashboardSigner, type DashboardKey, type Signer } from './sign.ts';
import type { Reply, Transport } from './transport.ts';

const PREFIX = '/dashboard/api';
const NONCE = '/dashboard/nonce';
/** A session is taken of a page of its own alone; older browsers say that in no other way. */
const OWN_PAGE = { 'X-SVC-Console': '1' } as const;
/** Of a read that no person caused: it does not keep the session from growing idle. */
const BACKGROUND = { 'X-SVC-Background': '1' } as const;

export interface DashboardClientOptions extends TransportChoices {
  /** Null: only what a session reads can be sent. */
  readonly key: DashboardKey | null;
  /** Whether what is read now is read by the page itself, for no person. */
  readonly isBackground?: (() => boolean) | undefined;
  /**
   * Called before each signature, once the service has answered with its nonce and time. What it
   * throws is thrown, and nothing is sent.
   */
  readonly beforeSigning?: (() => void) | undefined;
}

export interface DashboardClient extends Calls, Groups {
  /** A request of the dashboard's own routes (`/dashboard/…`); a read by session, else signed. */
  send(request: {
    readonly method: 'GET' | 'POST' | 'DELETE';
    /** From the root, with the query. */
    readonly target: string;
    readonly body?: unknown;
    /** A read that is signed; every write is. */
    readonly signed?: boolean;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Reply>;
}

/** @throws ClientUsageError for options that no request can be sent with. */
export function createDashboardClient(options: DashboardClientOptions): DashboardClient {
  const sign: Signer =
    options.key === null ? missingKey : createDashboardSigner(options.key, () => signable());
  const transport = doubting(transportOf(options, { sign, credentials: 'same-origin' }));
  const ownPage = () => ({ ...OWN_PAGE, ...(options.isBackground?.() === true ? BACKGROUND : {}) });
  const issuedNonce = async (): Promise<string> => {
    const reply = await transport({
      operation: 'nonce',
      method: 'GET',
      target: NONCE,
      headers: OWN_PAGE,
      signed: false,
      writes: false,
      harmless: true,
    });
    const nonce = isObject(reply.body) ? reply.body['nonce'] : undefined;
    if (typeof nonce !== 'string') throw strange(reply, `to GET ${NONCE}, without nonce`);
    return nonce;
  };
  const signable = async (): Promise<string> => {
    const nonce = await issuedNonce();
    options.beforeSigning?.();
    return nonce;
  };
  const calls = callsOver(
    (sent) => transport({ ...sent, headers: { ...ownPage(), ...sent.headers } }),
    () => Promise.resolve(PREFIX),
    // What has an effect is signed, a read that looks outside included.
    ({ method }, query) => method !== 'GET' || query['fresh'] === true || query['fresh'] === 'true',
  );
  return {
    ...calls,
    ...groupsOver(calls),
    send: ({ method, target, body, signed = method !== 'GET', signal }) =>
      transport({
        operation: `${method} ${target}`,
        method,
        target,
        body,
        headers: ownPage(),
        signed,
        writes: method !== 'GET',
        harmless: method === 'GET',
        signal,
      }),
  };
}

/**
 * A browser sends a request again by itself, a write too, where a kept connection closes before the
 * answer came. The copy has a nonce that was used, so the 401 that comes back is of the copy, and
 * says nothing of the first.
 */
function doubting(transport: Transport): Transport {
  return async (sent) => {
    try {
      return await transport(sent);
    } catch (error) {
      if (sent.writes && error instanceof ApiError && error.status === 401) throw inDoubt(error);
      throw error;
    }
  };
}

function missingKey(): never {
  throw new ClientUsageError('This browser has no key to sign with: enrol it first.');
}
