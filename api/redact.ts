/**
 * Redacts what callers and executors sent before responses show it: no secrets and no raw signed
 * payloads, as in logs.
 */
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { hostsOnly, isTelling, REDACTED, safeText } from '../platform/redact.ts';

/** Removes the secrets that this process knows from a text. */
export type Redact = (text: string) => string;

const same: Redact = (text) => text;

/**
 * Returns the object with the values of all sensitive keys replaced, at any depth, and each text
 * redacted as in logs.
 */
export function withoutSecrets(value: JsonObject, redact: Redact = same): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isTelling(key) ? REDACTED : cleaned(each, redact),
    ]),
  );
}

/** Returns the caller's own references for a movement as responses show them. */
export function shownNaming(
  named: { readonly external_reference: string | null; readonly metadata: JsonObject },
  redact: Redact = same,
): { readonly external_reference: string | null; readonly metadata: JsonObject } {
  const { external_reference: reference, metadata } = named;
  return {
    external_reference: reference === null ? null : safeText(redact(reference)),
    metadata: withoutSecrets(metadata, redact),
  };
}

/** Returns a message redacted as in logs; null stays null. */
export function withoutSecretsInMessage<T extends string | null>(
  message: T,
  redact: Redact = same,
): T | string {
  return message === null ? message : safeText(hostsOnly(redact(message)));
}

/** Returns message and data of a timeline event as responses show them. */
export function shown(
  { message, data }: { readonly message: string; readonly data: JsonObject },
  redact: Redact = same,
): { readonly message: string; readonly data: JsonObject } {
  return { message: withoutSecretsInMessage(message, redact), data: withoutSecrets(data, redact) };
}

function cleaned(value: JsonValue, redact: Redact): JsonValue {
  if (typeof value === 'string') return safeText(redact(value));
  if (typeof value !== 'object' || value === null) return value;
  return isList(value) ? value.map((each) => cleaned(each, redact)) : withoutSecrets(value, redact);
}

function isList(value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] {
  return Array.isArray(value);
}
