/** Views of what executors reported: secrets and raw signed payloads never appear in them. */
import type { JsonObject, JsonValue } from '../../domain/executor.ts';

const SECRET =
  /^(raw_?tx|raw_?transaction|raw_?signed_?(tx|transaction)|signed_?(tx|transaction|payload)|sign_?result|signature|private_?key|secret(_?key)?|api_?(key|secret)|mnemonic|seed(_?phrase)?|passphrase|password|auth_?token|access_?token|authorization)$/i;
const SHOWN = '[redacted]';

/** The object with the values of all telling keys replaced, at any depth. */
export function withoutSecrets(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, SECRET.test(key) ? SHOWN : cleaned(each)]));
}

function cleaned(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  return isList(value) ? value.map(cleaned) : withoutSecrets(value);
}

function isList(value: JsonObject | readonly JsonValue[]): value is readonly JsonValue[] {
  return Array.isArray(value);
}
