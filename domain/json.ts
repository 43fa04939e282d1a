/** Types of JSON values, a check for objects, and places in values. */

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** Returns whether the value is a JSON object: neither null, nor an array, nor a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a path as text: `['venues', 2, 'chain_id']` as `venues[2].chain_id`. */
export function placeOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number'
        ? `${text}[${String(step)}]`
        : text === ''
          ? String(step)
          : `${text}.${String(step)}`,
    '',
  );
}
