/**
 * Client of an operator's API under `/dashboard/api`. Reads use the browser's session; all other
 * requests are signed with the operator's own key. Cookies are sent to this origin only.
 */
import { isObject, strange } from './answer.ts';
import { callsOver, transportOf, type Calls, type TransportChoices } from './client.ts';
import { ApiError, ClientUsageError, inDoubt } from './errors.ts';
import { groupsOver, type Groups } from './groups.ts';
import { createDashboardSigner, type DashboardKey, type Signer } from './sign.ts';
import type { Reply, Transport } from './transport.ts';

const PREFIX = '/dashboard/api';
const NONCE = '/dashboard/nonce';
/** Shows that the dashboard's own page sends a request, if the browser sends no Sec-Fetch-Site. */
const OWN_PAGE = { 'X-SVC-Console': '1' } as const;
/** Marks a read that no user caused; such a read does not count as activity of the session. */
const BACKGROUND = { 'X-SVC-Background': '1' } as const;

export interface DashboardClientOptions extends TransportChoices {
  /** Key of the operator; null: only reads with the session are possible. */
  readonly key: DashboardKey | null;
  /** Returns true while reads are started by the page itself and not by the user. */
  readonly isBackground?: (() => boolean) | undefined;
  /**
   * Called before each signature, after the service has returned a nonce and its time. If this
   * function throws, the error is passed on and the request is not sent.
   */
  readonly beforeSigning?: (() => void) | undefined;
}

export interface DashboardClient extends Calls, Groups {
  /** Sends a request to a dashboard route (`/dashboard/…`): reads by session, writes signed. */
  send(request: {
    readonly method: 'GET' | 'POST' | 'DELETE';
    /** Path from the root, with the query. */
    readonly target: string;
    readonly body?: unknown;
    /** Default: true for a write and false for a read. */
    readonly signed?: boolean;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Reply>;
}

/**
 * Creates the client of an operator.
 *
 * @throws ClientUsageError for invalid options, with which no request can be sent.
 */
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
    (send) => send(PREFIX),
    // Signed: every request with an effect, also a `fresh` read, which queries outside systems.
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
 * Marks the 401 of a write as in doubt. A browser itself repeats a request, even a write, when a
 * kept connection closes before the answer. The repeat has a used nonce, so its 401 does not tell
 * the result of the first request.
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
