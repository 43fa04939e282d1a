/**
 * Reads bodies before their sender is authenticated, within a limit for all bodies together:
 * unauthenticated senders can use only a part of the memory, and requests that arrive in time are
 * still read.
 */
import type { IncomingMessage } from 'node:http';
import { Gauge } from 'prom-client';
import { ServiceError } from '../../domain/errors.ts';
import { countOverload } from './admission.ts';
import { BODY_LIMIT } from './body.ts';
import { invalidRequest } from './issues.ts';

/** Maximum bytes in memory of bodies whose signature was not checked yet. */
export const UNVERIFIED_BYTES = 64 * 1_048_576;

const buffered = new Gauge({
  name: 'svc_http_unverified_body_bytes',
  help: 'Bytes of bodies in memory whose sender is not known yet.',
});

/** A body in memory. It counts as unverified until `release`; a second call does nothing. */
export interface HeldBody {
  readonly bytes: Uint8Array;
  release(): void;
}

export interface BodyReader {
  /**
   * Reads the raw body. Throws `body_too_large`, `invalid_request` for a body that ends early, and
   * `overloaded` when memory is short, which ends the oldest arriving body first.
   */
  read(request: IncomingMessage): Promise<HeldBody>;
}

/**
 * Returns whether a body follows the headers; throws `body_too_large` if the headers declare too
 * many bytes.
 */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length, 'transfer-encoding': chunked } = headers;
  if (Number(length ?? 0) > BODY_LIMIT) throw new ServiceError('body_too_large');
  return chunked !== undefined || Number(length ?? 0) > 0;
}

const NONE: HeldBody = { bytes: new Uint8Array(), release: () => undefined };

/** Creates a reader with a separate limit; each listening socket has one reader. */
export function createBodyReader(most: number): BodyReader {
  let held = 0;
  /** One function for each arriving body that ends its reading; the oldest body is first. */
  const arriving = new Set<(error: ServiceError) => void>();
  const count = (bytes: number): void => {
    held += bytes;
    buffered.inc(bytes);
  };
  const makeRoom = (): void => {
    for (const end of arriving) {
      if (held <= most) return;
      countOverload('bodies');
      end(new ServiceError('overloaded'));
    }
  };

  return {
    read: (request) => {
      if (!hasBody(request)) return Promise.resolve(NONE);
      if (request.destroyed) return Promise.reject(incomplete());
      return new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        let mine = 0;
        const release = (): void => {
          count(-mine);
          mine = 0;
        };
        const stop = (): void => {
          arriving.delete(end);
          request.off('data', take).off('end', whole).off('close', gone).off('error', gone);
        };
        const end = (error: ServiceError): void => {
          stop();
          chunks.length = 0;
          release();
          // The rest is discarded, so that the reply arrives and the connection survives.
          request.on('error', () => undefined).resume();
          reject(error);
        };
        const take = (chunk: Buffer): void => {
          mine += chunk.byteLength;
          count(chunk.byteLength);
          if (mine > BODY_LIMIT) {
            end(new ServiceError('body_too_large'));
            return;
          }
          chunks.push(chunk);
          makeRoom();
        };
        const whole = (): void => {
          stop();
          resolve({ bytes: Buffer.concat(chunks), release });
        };
        const gone = (): void => {
          end(incomplete());
        };
        arriving.add(end);
        request.on('data', take).on('end', whole).on('close', gone).on('error', gone);
      });
    },
  };
}

function incomplete(): ServiceError {
  return invalidRequest([
    {
      path: '',
      code: 'incomplete_body',
      message: 'the length of the body differs from Content-Length',
    },
  ]);
}
