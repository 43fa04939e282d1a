/** API keys of the local Coinbase, and the tokens that they sign (docs/coinbase-facts.md, 15). */
import { createHash, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import type { Account, Books } from '../books.ts';
import { OwnAnswer, type Credentials, type WireRequest } from '../format.ts';
import { Refusal } from '../refusal.ts';
import { wire } from './coinbase-refusals.ts';

/** A token is of Coinbase's own host, whatever the host of a proxy or a test. */
const HOST = 'api.coinbase.com';
const AUDIENCE = 'retail_rest_api_proxy';
const ISSUERS: readonly unknown[] = ['coinbase-cloud', 'cdp'];
const LONGEST_SECONDS = 120;

interface Key {
  readonly publicKey: KeyObject;
  readonly credentials: Credentials;
}

const keys = new Map<Account, Key>();

/** Returns a UUID that is always the same for the same text. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const [version, variant] = [`5${hex.slice(13, 16)}`, `9${hex.slice(17, 20)}`];
  return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(20, 32)].join('-');
}

/** The content of the credentials file of an account. Its key is made once for each process. */
export function keyOf(account: Account): Credentials {
  return pairOf(account).credentials;
}

function pairOf(account: Account): Key {
  const known = keys.get(account);
  if (known !== undefined) return known;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = account ?? 'master';
  const made: Key = {
    publicKey,
    credentials: {
      api_key: `organizations/${uuidOf('organization')}/apiKeys/${uuidOf(`key of ${name}`)}`,
      secret: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    },
  };
  keys.set(account, made);
  return made;
}

/** The key that the request's token names; null: none. */
export function apiKeyOf(request: Pick<WireRequest, 'headers'>): string | null {
  const kid = tokenOf(request)?.header['kid'];
  return typeof kid === 'string' ? kid : null;
}

/** Checks the token, and returns whose key it is. Throws a Refusal or an OwnAnswer. */
export function authenticate(request: WireRequest, books: Books): Account {
  const token = tokenOf(request);
  const kid = apiKeyOf(request);
  const account = [null, ...books.subs].find((each) => keyOf(each).api_key === kid);
  if (token === null || account === undefined) throw new Refusal('key_unknown');
  if (!isSigned(token, pairOf(account).publicKey)) throw new Refusal('signature');
  checkClaims(token.claims, { ...request, kid, now: Math.floor(books.now() / 1_000) });
  // Coinbase only warns, and answers in the version of the key's settings, which may be another.
  if (!/^\d{4}-\d\d-\d\d$/.test(request.headers['cb-version']?.toString() ?? ''))
    throw new OwnAnswer(wire('invalid_request', 'CB-VERSION is missing'));
  return account;
}

type Fields = Readonly<Record<string, unknown>>;

interface Token {
  readonly header: Fields;
  readonly claims: Fields;
  /** The text that is signed. */
  readonly text: string;
  readonly signature: Buffer;
}

/** The token of a request; null: it has none that can be read. */
function tokenOf({ headers }: Pick<WireRequest, 'headers'>): Token | null {
  const [header = '', claims = '', signature = '', ...rest] = (
    /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  ).split('.');
  if (rest.length > 0) return null;
  try {
    return {
      header: fieldsOf(header),
      claims: fieldsOf(claims),
      text: `${header}.${claims}`,
      signature: Buffer.from(signature, 'base64url'),
    };
  } catch {
    return null;
  }
}

function fieldsOf(part: string): Fields {
  return { ...(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Fields) };
}

function isSigned({ header, text, signature }: Token, key: KeyObject): boolean {
  const { alg, nonce } = header;
  if (alg !== 'ES256' || typeof nonce !== 'string' || nonce === '') return false;
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function checkClaims(
  { sub, iss, aud, uri, nbf, exp }: Fields,
  of: Pick<WireRequest, 'method' | 'path'> & { readonly kid: string | null; readonly now: number },
): void {
  const isOfRequest =
    sub === of.kid &&
    ISSUERS.includes(iss) &&
    [aud].flat().includes(AUDIENCE) &&
    // Neither the query nor the body is part of it.
    uri === `${of.method} ${HOST}${of.path}`;
  if (!isOfRequest) throw new Refusal('signature');
  const [from, until] = [Number(nbf), Number(exp)];
  const isInTime = from <= of.now && of.now < until && until - from <= LONGEST_SECONDS;
  if (!isInTime) throw new Refusal('clock');
}
