/**
 * Views of what callers and executors sent: secrets and raw signed payloads never appear in them,
 * as they never do in logs.
 */
import type { JsonObject, JsonValue } from '../domain/json.ts';
import { hostsOnly, isTelling, REDACTED, safeText } from '../platform/redact.ts';

/** Takes the secrets that this process knows out of a text. */
export type Redact = (text: string) => string;

const same: Redact = (text) => text;

/**
 * The object with the values of all telling keys replaced, at any depth, and every text as a log
 * would have it.
 */
export function withoutSecrets(value: JsonObject, redact: Redact = same): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      isTelling(key) ? REDACTED : cleaned(each, redact),
    ]),
  );
}

/** What a caller's own books say of a movement, as views have it. */
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

/** A message as a log would have it; null stays null. */
export function withoutSecretsInMessage<T extends string | null>(
  message: T,
  redact: Redact = same,
): T | string {
  return message === null ? message : safeText(hostsOnly(redact(message)));
}

/** Message and data of an event of a timeline. */
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
