/**
 * Reads the address of a Postgres database: one or more servers, the use of TLS, and whether a
 * standby is accepted. A parameter of libpq has the same meaning here. A parameter that this
 * service would treat differently is refused, not guessed.
 */
import { isLoopbackHost } from './callbacks/target.ts';

/**
 * `off`: nothing is encrypted. `unverified`: encrypted, but the server's identity is not checked.
 */
export type TlsMode = 'off' | 'unverified' | 'verified';

export interface DatabaseAddress {
  /** The servers in the order in which they are tried, each as a full address. */
  readonly servers: readonly [string, ...string[]];
  readonly tls: {
    readonly mode: TlsMode;
    /** Paths of files; null if the address names none. */
    readonly ca: string | null;
    readonly cert: string | null;
    readonly key: string | null;
  };
  /** True: a server that accepts no writes is also accepted. */
  readonly readOnlyWillDo: boolean;
  /** Why another party may read the connection or answer for the database; null if none can. */
  readonly warning: string | null;
  /** Session settings in the address itself; null if there are none. */
  readonly options: string | null;
}

export type AddressFaults = { readonly faults: readonly string[] };

const MODES: Readonly<Record<string, TlsMode>> = {
  disable: 'off',
  'no-verify': 'unverified',
  'verify-full': 'verified',
};
const OURS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs'];
const ADVICE =
  'say sslmode=verify-full (with sslrootcert=<file> for a CA of your own); sslmode=no-verify to encrypt without checking the server; or sslmode=disable to encrypt nothing';

/** Reads a database address. A fault never repeats text of the address, which may hold a secret. */
export function readDatabaseAddress(text: string): DatabaseAddress | AddressFaults {
  const [, scheme, userinfo = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) return { faults: ['must be a postgresql:// URL'] };
  const places = hosts.split(',');
  const urls = places.map((place) => `${scheme}${userinfo}${place}${rest}`);
  // An address without a host means a local socket. With a user name, such an address is not a
  // valid URL, so localhost is inserted for parsing.
  const parsed = urls.map((url, index) => {
    const whole = places[index] === '' ? url.replace(/@(?=[/?]|$)/, '@localhost') : url;
    return URL.canParse(whole) ? new URL(whole) : null;
  });
  const first = parsed[0];
  if (first === undefined || first === null || parsed.includes(null))
    return { faults: ['cannot be read as postgresql://user:password@host:port/database'] };

  const query = first.searchParams;
  const faults: string[] = [];
  const word = query.get('sslmode');
  const mode = word === null ? undefined : MODES[word];
  const files = ['sslrootcert', 'sslcert', 'sslkey'].filter((name) => query.has(name));
  const isRemote = parsed.some((url) => url !== null && !isLocal(url));
  if (query.has('ssl') || query.has('uselibpqcompat'))
    faults.push(`ssl and uselibpqcompat are not used here: ${ADVICE}`);
  if (word !== null && mode === undefined)
    faults.push(`sslmode=${known(word)} does not check who answers everywhere: ${ADVICE}`);
  if (word === null && isRemote)
    faults.push(`the database is on another machine, and nothing would be encrypted: ${ADVICE}`);
  if ((word === null || mode === 'off') && files.length > 0)
    faults.push(`${files.join(', ')} have no use without TLS: add sslmode=verify-full`);
  if (query.has('sslcert') !== query.has('sslkey'))
    faults.push('a client certificate takes both sslcert and sslkey');
  const session = query.get('target_session_attrs') ?? 'read-write';
  if (!['any', 'read-write', 'primary'].includes(session))
    faults.push('target_session_attrs must be read-write, primary or any');
  if (faults.length > 0) return { faults };

  const [server = '', ...others] = urls.map(withoutOurs);
  return {
    servers: [server, ...others],
    tls: {
      mode: mode ?? 'off',
      // `system` means, as in libpq, the certificate authorities that this program trusts anyway.
      ca: query.get('sslrootcert') === 'system' ? null : query.get('sslrootcert'),
      cert: query.get('sslcert'),
      key: query.get('sslkey'),
    },
    readOnlyWillDo: session === 'any',
    warning: !isRemote
      ? null
      : mode === 'off'
        ? 'the connection to the database is not encrypted: anyone on the network path can read and change it'
        : mode === 'unverified'
          ? 'the database’s certificate is not checked: another server may answer in its place'
          : null,
    options: query.get('options'),
  };
}

/** Returns whether the host is a socket or a loopback name. */
function isLocal(url: URL): boolean {
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  return host === '' || host.startsWith('/') || isLoopbackHost(host) || host === '::1';
}

/** Returns the word only if libpq defines it; any other text may be a secret in the wrong place. */
function known(word: string): string {
  return ['allow', 'prefer', 'require', 'verify-ca'].includes(word) ? word : '…';
}

/** Returns the address exactly as written, without the parameters that the driver must not read. */
function withoutOurs(url: string): string {
  const [base = '', query] = url.split('?', 2);
  const kept = (query ?? '')
    .split('&')
    .filter((pair) => pair !== '' && !OURS.includes(pair.split('=', 1)[0] ?? ''));
  return kept.length === 0 ? base : `${base}?${kept.join('&')}`;
}
