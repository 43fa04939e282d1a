/** Compares JSON values, such as two requests with the same idempotency key. */
import canonicalize from 'canonicalize';
import { isObject, type JsonObject, type JsonValue } from '../../domain/json.ts';

/**
 * Returns the names of the fields in which two normal forms differ, with each field of the intent
 * separately.
 */
export function differingFields(
  first: JsonObject,
  second: JsonObject,
  prefix = '',
): readonly string[] {
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort();
  return names.flatMap((name) => {
    const [left, right] = [first[name], second[name]];
    if (name === 'intent' && isObject(left) && isObject(right))
      return differingFields(left, right, 'intent.');
    return same(left, right) ? [] : [`${prefix}${name}`];
  });
}

/** Returns whether two JSON values are equal, whatever the order of their fields. */
export function same(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return canonicalize(left) === canonicalize(right);
}
