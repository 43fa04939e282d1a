/** Faults that tests can set. Kept in memory only: a restarted simulator has none. */
import type { Express } from 'express';
import { z } from 'zod';
import { HttpError } from './http.ts';

/** A share of calls, from 0 to 1. */
export const rate = z.number().min(0).max(1).default(0);
export const milliseconds = z.int().min(0).max(600_000).default(0);
/** Number of calls that the faults still affect; null: until they are removed. */
export const remaining = z.int().min(1).nullable().default(null);

export interface FaultBox<T> {
  current(): T;
  /** Replaces all faults. */
  set(wish: unknown): T;
  clear(): T;
}

/**
 * Creates a box without faults. `read` parses a request to set faults, or throws the error that
 * refuses it.
 */
export function createFaultBox<T>(schema: z.ZodType<T>, read = readOrRefuse<T>): FaultBox<T> {
  let faults = schema.parse({});
  return {
    current: () => faults,
    set: (wish) => (faults = read(schema, wish)),
    clear: () => (faults = schema.parse({})),
  };
}

function readOrRefuse<T>(schema: z.ZodType<T>, wish: unknown): T {
  const read = schema.safeParse(wish);
  if (!read.success) throw new HttpError(400, read.error.message);
  return read.data;
}

/** Adds GET, POST and DELETE of `/faults`. `changed` is called after each change. */
export function addFaultRoutes<T>(
  app: Express,
  faults: FaultBox<T>,
  changed = (): void => {},
): void {
  app.get('/faults', (_request, response) => void response.json(faults.current()));
  app.post('/faults', (request, response) => {
    const set = faults.set(request.body);
    changed();
    response.json(set);
  });
  app.delete('/faults', (_request, response) => {
    const none = faults.clear();
    changed();
    response.json(none);
  });
}
