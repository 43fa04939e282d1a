/** Explains why Temporal's server cannot be used, and what to do. */
import { isIP } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { settingOf, type TemporalAccess } from './config/temporal.ts';

export interface TemporalFault {
  /** The setting to check. */
  readonly setting: string;
  readonly message: string;
}

const PROBE_MS = 1_000;
/**
 * Milliseconds to wait after the handshake: a TLS 1.3 server refuses a client certificate only
 * then.
 */
const AFTER_HANDSHAKE_MS = 700;
/** Some servers refuse a client certificate by closing the connection. */
const HUNG_UP = 'the server closes the connection after the handshake';

const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/**
 * Explains the error of a call. When the error itself gives no reason, a TLS handshake with the
 * address is tried: its errors are exact where gRPC reports only "unavailable".
 */
export async function explainTemporal(
  access: TemporalAccess,
  error: unknown,
): Promise<TemporalFault> {
  const { namespace, address } = access;
  const about = (part: Parameters<typeof settingOf>[1], message: string): TemporalFault => ({
    setting: settingOf(access, part),
    message,
  });
  const status = statusOf(error);
  if (status === NOT_FOUND)
    return about(
      'namespace',
      `there is no namespace ${namespace}. Run temporal operator namespace create --namespace ${namespace}, or mend the name.`,
    );
  if (status === UNAUTHENTICATED || status === PERMISSION_DENIED) return refused(access);
  const found = await probe(access);
  switch (found.kind) {
    case 'ok':
      break;
    case 'plain':
      return about(
        'tls',
        `the server at ${address} does not speak TLS. Mend the address, or set SVC_TEMPORAL_TLS=false where nothing needs to be encrypted.`,
      );
    case 'encrypted':
      return about(
        'tls',
        `the server at ${address} speaks TLS alone. Set SVC_TEMPORAL_TLS=true, and SVC_TEMPORAL_TLS_CA_FILE where its certificate is of a CA of your own.`,
      );
    case 'untrusted':
      return access.tls?.ca === undefined
        ? about(
            'ca',
            `the certificate of ${address} is of a CA that this machine does not trust (${found.code}). Name the CA in SVC_TEMPORAL_TLS_CA_FILE.`,
          )
        : about(
            'ca',
            `the certificate of ${address} is not of the CA in this file (${found.code}). Put the server's CA there.`,
          );
    case 'other_name':
      return about(
        'serverName',
        `the certificate of ${address} is for another name. Mend the address, or set SVC_TEMPORAL_TLS_SERVER_NAME to a name in the certificate.`,
      );
    case 'over':
      return about(
        'address',
        `the certificate of ${address} has expired (${found.code}). Whoever runs the server has to renew it.`,
      );
    case 'client_refused':
      return access.tls?.client === undefined
        ? about(
            'cert',
            `the server at ${address} asks for a client certificate. Set SVC_TEMPORAL_TLS_CERT_FILE and SVC_TEMPORAL_TLS_KEY_FILE.`,
          )
        : about(
            'cert',
            `the server at ${address} refuses the client certificate (${found.code}). Renew it, or have its CA accepted there.`,
          );
    case 'away':
      return about(
        'address',
        `Temporal does not answer at ${address} (${found.code}). Start it, or mend the address.`,
      );
  }
  // The worker's library is stricter than Node's, for example with certificates of version 1.
  const [, unusable] = /InvalidCertificate\((.*?)\)+$/.exec(messageOf(error)) ?? [];
  if (unusable !== undefined)
    return about(
      'cert',
      `a certificate of the connection to ${address} cannot be used by the worker (${unusable}). Issue it anew, as X.509 version 3.`,
    );
  return about('address', `Temporal does not answer at ${address}. Start it, or mend the address.`);
}

function refused(access: TemporalAccess): TemporalFault {
  const { apiKey, headers = {}, namespace } = access;
  if (apiKey !== undefined)
    return {
      setting: settingOf(access, 'apiKey'),
      message: `Temporal refuses the API key for namespace ${namespace}. Put a valid one there; a process takes it within seconds.`,
    };
  if ('authorization' in headers)
    return {
      setting: settingOf(access, 'headers'),
      message: `Temporal refuses the authorization header for namespace ${namespace}. Put a valid one there.`,
    };
  return {
    setting: settingOf(access, 'apiKey'),
    message: `Temporal requires authentication for namespace ${namespace}. Set SVC_TEMPORAL_API_KEY or its file, or have the client certificate accepted.`,
  };
}

type Probed =
  | { readonly kind: 'ok' | 'plain' | 'encrypted' | 'other_name' }
  | { readonly kind: 'untrusted' | 'over' | 'client_refused' | 'away'; readonly code: string };

/** Makes one handshake with the connection's options. */
async function probe({ address, tls }: TemporalAccess): Promise<Probed> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const name = tls?.serverName ?? host;
  const error = await handshake({
    host,
    port: Number(address.slice(colon + 1)),
    ALPNProtocols: ['h2'],
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls?.client === undefined ? {} : { cert: tls.client.cert, key: tls.client.key }),
    // Without TLS settings, this only tests whether the server uses TLS.
    ...(tls === undefined ? { rejectUnauthorized: false } : {}),
  });
  const code = error === null ? '' : String(Reflect.get(error, 'code') ?? error.message);
  const isTls = error === null || code === HUNG_UP || /^ERR_SSL.*ALERT/.test(code);
  if (/WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH|ERR_SSL_HTTP_REQUEST/.test(code))
    return { kind: tls === undefined ? 'ok' : 'plain' };
  if (tls === undefined && isTls) return { kind: 'encrypted' };
  if (error === null) return { kind: 'ok' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { kind: 'other_name' };
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return { kind: 'over', code };
  if (/SIGNED_CERT|UNABLE_TO_|CERT_UNTRUSTED|INVALID_CA|CERT_SIGNATURE/.test(code))
    return { kind: 'untrusted', code };
  if (isTls) return { kind: 'client_refused', code };
  return { kind: 'away', code };
}

function handshake(options: ConnectionOptions): Promise<Error | null> {
  return new Promise((resolve) => {
    const socket = connect(options);
    const timer = setTimeout(() => end(new Error('no answer in time')), PROBE_MS);
    const end = (error: Error | null): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(error);
    };
    socket.on('error', end);
    socket.once('data', () => end(null));
    socket.once('secureConnect', () => {
      socket.once('close', () => end(new Error(HUNG_UP)));
      setTimeout(() => end(null), AFTER_HANDSHAKE_MS);
    });
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the gRPC status of an error or its causes; the worker's library only writes the status in
 * the message.
 */
function statusOf(error: unknown): number | null {
  for (let at = error; typeof at === 'object' && at !== null; at = Reflect.get(at, 'cause')) {
    const code: unknown = Reflect.get(at, 'code');
    if (typeof code === 'number') return code;
    const message = String(Reflect.get(at, 'message'));
    if (/unauthenticated/i.test(message)) return UNAUTHENTICATED;
    if (/permission ?denied/i.test(message)) return PERMISSION_DENIED;
  }
  return null;
}
