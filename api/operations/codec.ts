/**
 * Temporal's remote codec protocol: its UI and CLI post payloads here to encrypt or decrypt them. A
 * caller of these routes can read every payload, so only the operators' listener has them.
 */
import express, { Router, type NextFunction, type Request, type Response } from 'express';
import type { PayloadCodec } from '@temporalio/common';
import { ServiceError } from '../../domain/errors.ts';
import { UndecodablePayload } from '../../platform/payload-codec.ts';
import { parseBody } from '../http/body.ts';
import { payloadsBody, payloadsOf } from './codec-payloads.ts';
import { asServiceError } from '../http/errors.ts';
import { invalidRequest } from '../http/issues.ts';

export interface CodecOptions {
  readonly codec: PayloadCodec;
  /** The only origin whose pages may call the codec. */
  readonly uiOrigin: string;
}

/** Maximum body in bytes: Temporal's largest message is 4 MiB, and base64 adds a third. */
const BODY_LIMIT = 8 * 1_048_576;
/** The namespace may precede the verb: a client's endpoint template may contain the namespace. */
const PATHS = /^\/(?:[^/]+\/)?(encode|decode)$/;

/** Returns the routes below `/codec`; without `options` every path gets `route_not_found`. */
export function codecRoutes(options: CodecOptions | undefined): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (options !== undefined) {
    router.all(
      PATHS,
      allowOnlyUi(options.uiOrigin),
      express.raw({ type: () => true, inflate: false, limit: BODY_LIMIT }),
      answer(options),
    );
  }
  router.use(() => {
    throw new ServiceError('route_not_found', {
      message:
        options === undefined
          ? 'Payloads are not encrypted here (SVC_PAYLOAD_KEYS).'
          : 'POST /codec/encode or /codec/decode.',
    });
  });
  // Express recognises an error handler by its four parameters.
  router.use((error: unknown, _request: Request, _response: Response, _next: NextFunction) => {
    const tooLarge = asServiceError(error)?.code === 'body_too_large';
    throw tooLarge
      ? new ServiceError('body_too_large', { message: 'The request body is larger than 8 MiB.' })
      : error;
  });
  return router;
}

/**
 * Returns a handler that answers preflights and refuses other origins. Browsers name the origin of
 * each POST, so another page's request is refused before it has any effect.
 */
function allowOnlyUi(uiOrigin: string) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { origin } = request.headers;
    response.vary('Origin');
    if (origin !== undefined && origin !== uiOrigin) {
      throw new ServiceError('forbidden', {
        message: `Of all web pages, only those of ${uiOrigin} may call this route (SVC_TEMPORAL_UI_URL).`,
      });
    }
    if (origin !== undefined) response.setHeader('Access-Control-Allow-Origin', uiOrigin);
    if (request.method === 'POST') {
      next();
      return;
    }
    response.setHeader('Allow', 'POST, OPTIONS');
    if (request.method !== 'OPTIONS')
      throw new ServiceError('method_not_allowed', { context: { allow: ['POST', 'OPTIONS'] } });
    response.setHeader('Access-Control-Allow-Methods', 'POST');
    response.setHeader('Access-Control-Allow-Headers', 'Content-Type, X-Namespace, Authorization');
    response.status(204).end();
  };
}

function answer({ codec }: CodecOptions) {
  return async (request: Request, response: Response): Promise<void> => {
    const body: unknown = request.body;
    const bytes = Buffer.isBuffer(body) ? body : new Uint8Array();
    const payloads = payloadsOf(
      parseBody({
        bytes,
        contentType: request.headers['content-type'],
        contentEncoding: undefined,
      }),
    );
    try {
      response.json(
        payloadsBody(
          await (request.path.endsWith('/encode')
            ? codec.encode(payloads)
            : codec.decode(payloads)),
        ),
      );
    } catch (error) {
      if (!(error instanceof UndecodablePayload)) throw error;
      throw invalidRequest([{ path: 'payloads', code: 'undecodable', message: error.message }]);
    }
  };
}
