/**
 * Reads the access to Temporal: from the service's own settings, otherwise from Temporal's own
 * variables (`TEMPORAL_*`), otherwise from a profile of the TOML file that one of them names. A
 * file in a home directory is never read.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  loadClientConfigProfile,
  type ClientConfigProfile,
  type ConfigDataSource,
} from '@temporalio/envconfig';
import { z } from 'zod';
import { certificatesIn, endOf } from '../certificates.ts';
import { HOST_AND_PORT } from './kinds.ts';
import type { SettingName, Values } from './settings.ts';

/** Everything needed to connect to Temporal. */
export interface TemporalAccess {
  readonly address: string;
  readonly namespace: string;
  /** Absent: the connection is not encrypted. */
  readonly tls?: TemporalTls | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The setting from which each value was read, for messages. */
  readonly from?: Partial<Record<Part, string>> | undefined;
}

export interface TemporalTls {
  /** PEM; absent: the system's certificates. */
  readonly ca?: Buffer | undefined;
  readonly client?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly serverName?: string | undefined;
}

/** The settings from which the access is read. */
export const TEMPORAL_SETTINGS = [
  'SVC_TEMPORAL_ADDRESS',
  'SVC_TEMPORAL_NAMESPACE',
  'SVC_TEMPORAL_CONFIG_FILE',
  'SVC_TEMPORAL_PROFILE',
  'SVC_TEMPORAL_TLS',
  'SVC_TEMPORAL_TLS_CA_FILE',
  'SVC_TEMPORAL_TLS_CERT_FILE',
  'SVC_TEMPORAL_TLS_KEY_FILE',
  'SVC_TEMPORAL_TLS_SERVER_NAME',
  'SVC_TEMPORAL_API_KEY',
  'SVC_TEMPORAL_HEADERS',
] as const satisfies readonly SettingName[];

/** Names of each part: in our settings, in Temporal's variables and in a profile. */
const PARTS = {
  address: ['SVC_TEMPORAL_ADDRESS', 'TEMPORAL_ADDRESS', 'address'],
  namespace: ['SVC_TEMPORAL_NAMESPACE', 'TEMPORAL_NAMESPACE', 'namespace'],
  tls: ['SVC_TEMPORAL_TLS', 'TEMPORAL_TLS', 'tls.disabled'],
  ca: ['SVC_TEMPORAL_TLS_CA_FILE', 'TEMPORAL_TLS_SERVER_CA_CERT', 'tls.server_ca_cert'],
  cert: ['SVC_TEMPORAL_TLS_CERT_FILE', 'TEMPORAL_TLS_CLIENT_CERT', 'tls.client_cert'],
  key: ['SVC_TEMPORAL_TLS_KEY_FILE', 'TEMPORAL_TLS_CLIENT_KEY', 'tls.client_key'],
  serverName: ['SVC_TEMPORAL_TLS_SERVER_NAME', 'TEMPORAL_TLS_SERVER_NAME', 'tls.server_name'],
  apiKey: ['SVC_TEMPORAL_API_KEY', 'TEMPORAL_API_KEY', 'api_key'],
  headers: ['SVC_TEMPORAL_HEADERS', 'TEMPORAL_GRPC_META_*', 'grpc_meta'],
} as const;
type Part = keyof typeof PARTS;

/**
 * Returns the setting from which this value was read; if it was not set, the setting in which to
 * put it.
 */
export function settingOf({ from }: Pick<TemporalAccess, 'from'>, part: Part): string {
  return from?.[part] ?? PARTS[part][0];
}

export interface ReadTemporal {
  /** Null when there are faults. */
  readonly access: TemporalAccess | null;
  readonly faults: readonly string[];
}

/**
 * Reads the access, including its files, again at each call. `values` lacks settings that already
 * have a fault.
 */
export function readTemporal(
  values: Partial<Values>,
  environment: NodeJS.ProcessEnv,
): ReadTemporal {
  const reader = new Reader(values, environment);
  const access = reader.read();
  return { access: reader.faults.length === 0 ? access : null, faults: reader.faults };
}

/** Returns the secret texts of the access, which must never be shown. */
export function secretsOf({ apiKey, headers = {}, tls }: TemporalAccess): readonly string[] {
  const key = tls?.client?.key.toString('latin1').split('\n') ?? [];
  return [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers), ...key];
}

/** Returns whether both accesses are equal, so that an open connection can stay. */
export function isSameAccess(left: TemporalAccess, right: TemporalAccess): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Returns the expiry times of the client's and the CA's certificate, as far as there are any. */
export function certificateEnds({ tls }: TemporalAccess): Readonly<Record<string, Date>> {
  const { ca, client } = tls ?? {};
  return {
    ...(client === undefined ? {} : { client: endOf([new X509Certificate(client.cert)]) }),
    ...(ca === undefined ? {} : { ca: endOf(certificatesIn(ca)) }),
  };
}

const PROFILE = z.object({
  address: z.string().optional(),
  namespace: z.string().min(1).optional(),
  apiKey: z.string().optional(),
  tls: z
    .object({ disabled: z.boolean().optional(), serverName: z.string().min(1).optional() })
    .loose()
    .optional(),
  grpcMeta: z.record(z.string(), z.string()).optional(),
});

interface Layer {
  readonly profile: ClientConfigProfile;
  readonly nameOf: (part: Part, source?: ConfigDataSource) => string;
}

class Reader {
  readonly faults: string[] = [];
  readonly #values: Partial<Values>;
  /** Temporal's own variables (`TEMPORAL_*`); an empty variable counts as unset. */
  readonly #theirs: Readonly<Record<string, string>>;
  readonly #from: Partial<Record<Part, string>> = {};

  constructor(values: Partial<Values>, environment: NodeJS.ProcessEnv) {
    this.#values = values;
    this.#theirs = Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) =>
        name.startsWith('TEMPORAL_') && value !== undefined && value !== '' ? [[name, value]] : [],
      ),
    );
  }

  read(): TemporalAccess {
    const layers = [this.#ours(), this.#variables(), this.#file()].flatMap((layer) => layer ?? []);
    const pick = <T>(part: Part, of: (profile: ClientConfigProfile) => T | undefined) => {
      for (const { profile, nameOf } of layers) {
        const value = of(profile);
        if (value === undefined) continue;
        this.#from[part] = nameOf(part, isSource(value) ? value : undefined);
        return value;
      }
      return undefined;
    };
    const address = pick('address', (of) => of.address) ?? '127.0.0.1:7233';
    if (!HOST_AND_PORT.schema.safeParse(address).success)
      this.#fault('address', 'must be host:port');
    const apiKey = pick('apiKey', (of) => of.apiKey);
    if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
      this.#fault('apiKey', 'must be one line of printable characters');
    return {
      address,
      namespace: pick('namespace', (of) => of.namespace) ?? 'default',
      tls: this.#tls({
        disabled: pick('tls', (of) => of.tls?.disabled),
        ca: pick('ca', (of) => of.tls?.serverCACert),
        cert: pick('cert', (of) => of.tls?.clientCert),
        key: pick('key', (of) => of.tls?.clientKey),
        serverName: pick('serverName', (of) => of.tls?.serverName),
        apiKey,
      }),
      apiKey,
      headers: this.#headers(layers, apiKey),
      from: this.#from,
    };
  }

  #fault(part: Part, what: string): void {
    this.faults.push(`${settingOf({ from: this.#from }, part)}: ${what}`);
  }

  #ours(): Layer {
    const {
      SVC_TEMPORAL_ADDRESS: address,
      SVC_TEMPORAL_NAMESPACE: namespace,
      SVC_TEMPORAL_API_KEY: apiKey,
      SVC_TEMPORAL_HEADERS: grpcMeta,
      SVC_TEMPORAL_TLS: tls,
      SVC_TEMPORAL_TLS_SERVER_NAME: serverName,
      SVC_TEMPORAL_TLS_CA_FILE: ca,
      SVC_TEMPORAL_TLS_CERT_FILE: cert,
      SVC_TEMPORAL_TLS_KEY_FILE: key,
    } = this.#values;
    return {
      profile: withoutUnset({
        address,
        namespace,
        apiKey,
        grpcMeta,
        tls: withoutUnset({
          disabled: tls === undefined ? undefined : !tls,
          serverName,
          serverCACert: ca === undefined ? undefined : { path: ca },
          clientCert: cert === undefined ? undefined : { path: cert },
          clientKey: key === undefined ? undefined : { path: key },
        }),
      }),
      nameOf: (part) => PARTS[part][0],
    };
  }

  #variables(): Layer | null {
    const { TEMPORAL_TLS: tls, TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: unverified } = this.#theirs;
    // The library reads any other text as `false` and would leave the connection unencrypted.
    if (tls !== undefined && !['true', 'false', '1', '0'].includes(tls))
      this.faults.push('TEMPORAL_TLS: must be true or false');
    if (unverified !== undefined && !['false', '0'].includes(unverified))
      this.faults.push(
        "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: the server's certificate is always verified; name its CA in SVC_TEMPORAL_TLS_CA_FILE, or its name in SVC_TEMPORAL_TLS_SERVER_NAME",
      );
    for (const [, prefix] of [PARTS.ca, PARTS.cert, PARTS.key])
      if ([`${prefix}_PATH`, `${prefix}_DATA`].every((name) => name in this.#theirs)) {
        this.faults.push(`${prefix}_PATH: ${prefix}_DATA is set too; give one of them`);
        return null;
      }
    return {
      profile: loadClientConfigProfile({ disableFile: true, overrideEnvVars: this.#theirs }),
      nameOf: (part, source) =>
        source === undefined
          ? PARTS[part][1]
          : `${PARTS[part][1]}_${'path' in source ? 'PATH' : 'DATA'}`,
    };
  }

  #file(): Layer | null {
    const named = (ours: 'CONFIG_FILE' | 'PROFILE'): readonly [string, string | undefined] => {
      const own = this.#values[`SVC_TEMPORAL_${ours}`];
      const name = `TEMPORAL_${ours}`;
      return own === undefined ? [name, this.#theirs[name]] : [`SVC_${name}`, own];
    };
    const [setting, path] = named('CONFIG_FILE');
    const [profileSetting, profile] = named('PROFILE');
    if (path === undefined) {
      if (profile !== undefined)
        this.faults.push(
          `${profileSetting}: names a profile and no file; set SVC_TEMPORAL_CONFIG_FILE too, since a file in a home directory is never read`,
        );
      return null;
    }
    const text = this.#readFile(setting, path);
    if (text === null) return null;
    try {
      const read = loadClientConfigProfile({
        configSource: { data: text.toString('utf8') },
        configFileStrict: true,
        disableEnv: true,
        // Without this option the library reads the process's own environment.
        overrideEnvVars: {},
        ...(profile === undefined ? {} : { profile }),
      });
      const parsed = PROFILE.safeParse(read);
      if (parsed.success)
        return {
          profile: read,
          nameOf: (part, source) => {
            const end = source === undefined ? '' : 'path' in source ? '_path' : '_data';
            return `${setting}, profile ${profile ?? 'default'}, ${PARTS[part][2]}${end}`;
          },
        };
      for (const { path: at, message } of parsed.error.issues)
        this.faults.push(
          `${setting}: profile ${profile ?? 'default'}, ${at.join('.')}: ${message}`,
        );
    } catch (error) {
      this.faults.push(`${setting}: ${faultOfToml(error)}`);
    }
    return null;
  }

  #headers(
    layers: readonly Layer[],
    apiKey: string | undefined,
  ): Readonly<Record<string, string>> | undefined {
    const headers: Record<string, string> = {};
    for (const { profile, nameOf } of layers.toReversed())
      for (const [name, value] of Object.entries(profile.grpcMeta ?? {})) {
        this.#from.headers = nameOf('headers');
        // The library replaces only the first `_` of a variable's name with `-`.
        const header = name.toLowerCase().replaceAll('_', '-');
        if (!/^[a-z0-9.-]+$/.test(header) || /-bin$|^grpc-/.test(header))
          this.#fault('headers', `${JSON.stringify(header)} cannot be the name of a header`);
        else if (!/^[\x20-\x7e]+$/.test(value))
          this.#fault('headers', `the value of ${header} must be printable characters`);
        else headers[header] = value;
      }
    if ('authorization' in headers && apiKey !== undefined)
      this.#fault('headers', 'the API key is sent as authorization; set only one of the two');
    return Object.keys(headers).length === 0 ? undefined : headers;
  }

  #tls(found: {
    readonly disabled: boolean | undefined;
    readonly ca: ConfigDataSource | undefined;
    readonly cert: ConfigDataSource | undefined;
    readonly key: ConfigDataSource | undefined;
    readonly serverName: string | undefined;
    readonly apiKey: string | undefined;
  }): TemporalTls | undefined {
    const { disabled, serverName, apiKey, ...sources } = found;
    if (disabled === true) {
      if (apiKey !== undefined)
        this.#fault('tls', 'an API key is sent over an encrypted connection alone; use TLS');
      return undefined;
    }
    const configured = [serverName, apiKey, ...Object.values(sources)].some(
      (it) => it !== undefined,
    );
    if (disabled === undefined && !configured) return undefined;
    const ca = this.#pem('ca', sources.ca);
    const cert = this.#pem('cert', sources.cert);
    const key = this.#pem('key', sources.key);
    if (sources.cert !== undefined && sources.key === undefined)
      this.#fault('cert', `has no use without its private key; set ${PARTS.key[0]}`);
    if (sources.key !== undefined && sources.cert === undefined)
      this.#fault('key', `has no use without its certificate; set ${PARTS.cert[0]}`);
    if (cert !== null && key !== null) this.#checkPair(cert, key);
    return {
      ...(ca === null ? {} : { ca }),
      ...(cert === null || key === null ? {} : { client: { cert, key } }),
      ...(serverName === undefined ? {} : { serverName }),
    };
  }

  #pem(part: 'ca' | 'cert' | 'key', source: ConfigDataSource | undefined): Buffer | null {
    if (source === undefined) return null;
    const name = settingOf({ from: this.#from }, part);
    const bytes = 'path' in source ? this.#readFile(name, source.path) : Buffer.from(source.data);
    if (bytes === null) return null;
    try {
      if (part === 'key') createPrivateKey(bytes);
      else if (certificatesIn(bytes).length === 0) throw new Error('empty');
      return bytes;
    } catch {
      this.#fault(
        part,
        part === 'key'
          ? 'must be a private key in PEM that no password protects'
          : 'must be a certificate in PEM',
      );
      return null;
    }
  }

  #checkPair(cert: Buffer, key: Buffer): void {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      this.#fault('cert', `and ${settingOf({ from: this.#from }, 'key')} do not belong together`);
  }

  /** Reads a file; its fault does not contain the path, as for every file of a secret. */
  #readFile(name: string, path: string): Buffer | null {
    try {
      return readFileSync(path);
    } catch (error) {
      const code =
        typeof error === 'object' && error !== null && 'code' in error
          ? ` (${String(error.code)})`
          : '';
      this.faults.push(`${name}: the file that it names cannot be read${code}`);
      return null;
    }
  }
}

function isSource(value: unknown): value is ConfigDataSource {
  return typeof value === 'object' && value !== null && ('path' in value || 'data' in value);
}

function withoutUnset<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** Returns the fault of a TOML file. The parser's message quotes a line, which may hold a key. */
function faultOfToml(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'line' in error)
    return `line ${String(error.line)} is not TOML`;
  const message = error instanceof Error ? error.message : 'cannot be read';
  return message.replace(/^Validation error: /, '');
}
