/** The normal form of create requests, in which two requests are compared. */
import type { JsonObject } from '../../domain/json.ts';
import type { Intent } from '../../domain/plan/types.ts';
import { invalidRequest } from '../http/issues.ts';
import { idempotencyKey, type CreateBody } from './schema.ts';

/** Returns the intent without fields that were not sent. */
export function intentOf(body: Pick<CreateBody, 'intent'>): Intent {
  const { asset, amount, ...optional } = body.intent;
  return { asset, amount, ...withoutUndefined(optional) };
}

function withoutUndefined<T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** The caller's own references for a movement. */
export type Naming = Pick<CreateBody, 'unique_reference' | 'metadata'> & {
  readonly external_reference: string | null;
};

export function namingOf(body: CreateBody): Naming {
  const { external_reference = null, unique_reference, metadata } = body;
  return { external_reference, unique_reference, metadata };
}

/**
 * Returns what identifies the request: every field but the key, after defaults, upper-casing and
 * normalising.
 */
export function normalForm(body: CreateBody): JsonObject {
  return {
    template_key: body.template_key,
    template_version: body.template_version,
    intent: { ...intentOf(body) },
    strategy_id: body.strategy_id ?? null,
    input_params: body.input_params,
    approval_ttl_seconds: body.approval_ttl_seconds ?? null,
    callback_url: body.callback_url ?? null,
    labels: body.labels,
    // Only if sent: stored requests that are older than these fields lack them.
    ...withoutUndefined({ external_reference: body.external_reference }),
    ...(body.unique_reference ? { unique_reference: true } : {}),
    ...(Object.keys(body.metadata).length === 0 ? {} : { metadata: body.metadata }),
  };
}

/** Returns the key of the body or of the header; refuses two keys that differ. */
export function keyOf(
  body: Pick<CreateBody, 'idempotency_key'>,
  header: string | undefined,
): string | null {
  if (header === undefined) return body.idempotency_key ?? null;
  const parsed = idempotencyKey.safeParse(header);
  if (!parsed.success) {
    throw invalidRequest([
      {
        path: 'idempotency-key',
        code: 'invalid_value',
        message: 'the header must hold 1 to 128 characters',
      },
    ]);
  }
  if (body.idempotency_key !== undefined && body.idempotency_key !== header) {
    throw invalidRequest([
      {
        path: 'idempotency_key',
        code: 'invalid_value',
        message: 'differs from the Idempotency-Key header',
      },
    ]);
  }
  return header;
}
