/** The dashboard of the shared stack, as an operator's browser uses it. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { dashboardCanonicalString } from '../../api/auth/canonical.ts';
import { must, shared, type Answer } from './http.ts';

export interface RowView {
  readonly id: string;
  readonly address: string;
  readonly chain_id: number | null;
  readonly active: boolean;
  readonly usable_after: string | null;
  readonly outcome: string;
  readonly [field: string]: unknown;
}

export const ROWS = '/dashboard/allowed-addresses';

export interface Signing {
  readonly operator?: string;
  readonly secret?: string;
  readonly timestamp?: string;
  readonly nonce?: string;
}

/** The four headers of one write. */
export function dashboardHeaders(
  method: string,
  target: string,
  body: string,
  signing: Signing = {},
): Record<string, string> {
  const {
    operator = 'ops-1',
    timestamp = String(Math.floor(Date.now() / 1000)),
    nonce = randomBytes(16).toString('hex'),
  } = signing;
  const secret = signing.secret ?? shared.dashboardKeys[operator] ?? '';
  const [path = '', query = ''] = target.split('?');
  const text = dashboardCanonicalString({
    method,
    path,
    query,
    body: Buffer.from(body),
    timestamp,
    nonce,
    operator,
  });
  return {
    'x-svc-dashboard-operator': operator,
    'x-svc-dashboard-timestamp': timestamp,
    'x-svc-dashboard-nonce': nonce,
    'x-svc-dashboard-signature': `v3=${createHmac('sha256', secret).update(text).digest('hex')}`,
  };
}

/** Sends to the root of the service; `headers` replace those of the signature. */
export async function toDashboard<T = RowView>(
  method: string,
  target: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer<T>> {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const signed = headers ?? (method === 'GET' ? {} : dashboardHeaders(method, target, text));
  const init =
    body === undefined
      ? { headers: signed }
      : { headers: { 'content-type': 'application/json', ...signed }, body: text };
  const response = await fetch(shared.apiUrl + target, { method, ...init });
  return { status: response.status, headers: response.headers, body: (await response.json()) as T };
}

/** The console's origin; all other requests use the stack's address. */
export const CONSOLE = `http://localhost:${new URL(shared.apiUrl).port}`;
/** Operators of the shared stack by role. */
export const OPERATORS = { allowlist: 'ops-5', operator: 'ops-7', admin: 'ops-6' } as const;

/** A nonce of the service. */
export async function issuedNonce(): Promise<string> {
  const response = await fetch(`${CONSOLE}/dashboard/nonce`);
  return ((await response.json()) as { nonce: string }).nonce;
}

/** Sends once to the second door, signed with a nonce of the service or that of `signing`. */
export async function sendOnce<T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  { headers = {}, ...signing }: Signing & { readonly headers?: Record<string, string> } = {},
): Promise<Answer<T>> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const target = `/dashboard/api${path}`;
  const nonce = signing.nonce ?? (await issuedNonce());
  const signed = dashboardHeaders(method, target, text, { ...signing, nonce });
  const type = { 'content-type': 'application/json' };
  const response = await fetch(CONSOLE + target, {
    method,
    ...(text === '' ? {} : { body: text }),
    headers: { ...(text === '' ? {} : type), ...signed, ...headers },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as T };
}

/** As the former, and again while the operator is too fast. */
export async function sendConsole<T = unknown>(
  ...sent: Parameters<typeof sendOnce>
): Promise<Answer<T>> {
  for (;;) {
    const answer = await sendOnce<T>(...sent);
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** An address of its own. */
export const freshAddress = (): string =>
  `0x${randomUUID().replaceAll('-', '')}${randomBytes(4).toString('hex')}`;

/** Puts an address on the list. */
export const allowed = (
  address: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<RowView> =>
  must(200, toDashboard('POST', ROWS, { chain_family: 'evm', address, reason: 'a test', ...more }));

export const revoked = (row: RowView): Promise<RowView> =>
  must(200, toDashboard('POST', `${ROWS}/${row.id}/revoke`, { reason: 'a test' }));
