/** A JSON object with size limits, which a jsonb column can store without changes. */
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';

export interface JsonBounds {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/**
 * Returns a schema for a plain JSON object within `bounds`, without NUL and lone surrogates, which
 * Postgres refuses.
 */
export function jsonObject(bounds: JsonBounds): z.ZodType<JsonObject> {
  return z.custom<JsonObject>((value) => isBoundedObject(value, bounds), {
    error: `must be a JSON object of at most ${bounds.maxBytes} bytes and depth ${bounds.maxDepth}`,
  });
}

function isBoundedObject(value: unknown, bounds: JsonBounds): boolean {
  if (!isPlainObject(value) || !isJson(value, bounds.maxDepth)) return false;
  return Buffer.byteLength(JSON.stringify(value)) <= bounds.maxBytes;
}

function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return isStorable(value);
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth - 1));
  return (
    isPlainObject(value) &&
    Object.entries(value).every(([key, item]) => isStorable(key) && isJson(item, depth - 1))
  );
}

function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm (a vm context) has that realm's Object.prototype, whose prototype is
  // null.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
