/** A create request in its one normal form, and how two of them differ. */
import canonicalize from 'canonicalize';
import type { JsonObject, JsonValue } from '../../domain/executor.ts';
import { isObject } from '../../domain/plan/compile.ts';
import type { Intent } from '../../domain/plan/types.ts';
import { invalidRequest } from '../issues.ts';
import { idempotencyKey, type CreateBody } from './schema.ts';

/** The intent without fields that were not sent. */
export function intentOf(body: CreateBody): Intent {
  const { asset, amount, ...optional } = body.intent;
  return { asset, amount, ...given(optional) };
}

function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** What identifies the request: everything but the key, after defaults, upper-casing and normalising. */
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
  };
}

/** The fields in which two normal forms differ, those of the intent by name. */
export function differingFields(first: JsonObject, second: JsonObject, prefix = ''): readonly string[] {
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort();
  return names.flatMap((name) => {
    const [left, right] = [first[name], second[name]];
    if (name === 'intent' && isObject(left) && isObject(right)) return differingFields(left, right, 'intent.');
    return same(left, right) ? [] : [`${prefix}${name}`];
  });
}

function same(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return canonicalize(left) === canonicalize(right);
}

/** The key of the body or of the header; two that differ are refused. */
export function keyOf(body: CreateBody, header: string | undefined): string | null {
  if (header === undefined) return body.idempotency_key ?? null;
  const parsed = idempotencyKey.safeParse(header);
  if (!parsed.success) {
    throw invalidRequest([{ path: 'idempotency-key', code: 'invalid_value', message: 'the header must hold 1 to 128 characters' }]);
  }
  if (body.idempotency_key !== undefined && body.idempotency_key !== header) {
    throw invalidRequest([{ path: 'idempotency_key', code: 'invalid_value', message: 'differs from the Idempotency-Key header' }]);
  }
  return header;
}
