/** Reads and changes the allowlist over dashboard routes, because the API does not offer that. */
import type {
  AllowedAddress,
  AllowedAddressChange,
  AllowedAddressList,
} from '../../api/dashboard/schema.ts';
import { errorOf, strange, waitsOf } from '../http/answer.ts';
import { UnreachableError } from '../http/errors.ts';
import { createDashboardSigner } from '../http/sign.ts';
import type { Session } from '../command-line/session.ts';
import { isJson } from '../command-line/words.ts';

export const ROWS = '/dashboard/allowed-addresses';
const TIMEOUT_MS = 10_000;

/** Reads one page of rows, unsigned; the service answers only requests from its own machine. */
export async function readRows(
  session: Session,
  query: Readonly<Record<string, string>>,
): Promise<AllowedAddressList> {
  const search = new URLSearchParams(query).toString();
  return request(session, {
    method: 'GET',
    target: search === '' ? ROWS : `${ROWS}?${search}`,
    // A page whose cursor leads to itself would be read without end.
    isOurs: (value): value is AllowedAddressList =>
      isList(value) && (value.next_cursor === null || value.next_cursor !== query['cursor']),
  });
}

function isList(value: unknown): value is AllowedAddressList {
  if (!isJson(value) || !Array.isArray(value['allowed_addresses'])) return false;
  const { next_cursor: next } = value;
  return next === null || typeof next === 'string';
}

function isChange(value: unknown): value is AllowedAddressChange {
  return isJson(value) && typeof value['outcome'] === 'string' && Array.isArray(value['warnings']);
}

/** Reads all pages and returns every row. */
export async function everyRow(
  session: Session,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly AllowedAddress[]> {
  const rows: AllowedAddress[] = [];
  let cursor: string | null = null;
  do {
    const next: Readonly<Record<string, string>> = cursor === null ? {} : { cursor };
    const page = await readRows(session, { ...query, limit: '200', ...next });
    rows.push(...page.allowed_addresses);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return rows;
}

/** Sends a change of the allowlist, signed with the operator's own key. */
export async function writeRow(
  session: Session,
  path: string,
  body: object,
): Promise<AllowedAddressChange> {
  return request(session, {
    method: 'POST',
    target: path,
    body: JSON.stringify(body),
    isOurs: isChange,
  });
}

interface DashboardRequest<T> {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  readonly body?: string;
  readonly isOurs: (value: unknown) => value is T;
}

/** Sends without retry: a nonce is valid once, and the allowlist shows if a change was made. */
async function request<T>(
  session: Session,
  { method, target, body, isOurs }: DashboardRequest<T>,
): Promise<T> {
  const origin = session.settings.apiUrl.value;
  const headers = body === undefined ? {} : await signed(session, method, origin + target, body);
  let response: Response;
  let text: string;
  try {
    response = await fetch(origin + target, {
      method,
      headers,
      redirect: 'error',
      signal: AbortSignal.any([session.io.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      ...(body === undefined ? {} : { body }),
    });
    text = await response.text();
  } catch (error) {
    session.stopIfInterrupted();
    throw unreachable(origin, error, method === 'POST');
  }
  const answer = { status: response.status, headers: response.headers, text };
  if (!response.ok) throw errorOf(answer);
  if (response.status === 202) throw waitsOf(answer);
  const value = jsonOf(text);
  if (!isOurs(value)) throw strange(answer, 'with a body that the dashboard does not send');
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function unreachable(address: string, error: unknown, maybeTaken: boolean): UnreachableError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : null;
  const refused = code === 'ECONNREFUSED';
  return new UnreachableError({
    address,
    why: code ?? 'no answer in time',
    causeCode: code,
    maybeTaken: maybeTaken && !refused,
  });
}

async function signed(
  session: Session,
  method: string,
  url: string,
  body: string,
): Promise<Record<string, string>> {
  const { operator, secret } = session.dashboardKey();
  const sign = createDashboardSigner({ operator, secret: secret.read() });
  return { 'content-type': 'application/json', ...(await sign({ method, url, body })) };
}
