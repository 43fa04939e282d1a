/** Reads, previews and sends of the form; also stores a create request whose outcome is unknown. */
import type { Input, PreviewOf, ResultOf } from '../../../clients/http/operations.ts';
import { theClient } from '../../data/session.ts';
import type { Body } from '../../parts/write.tsx';
import { pendingOf, type Pending } from './model.ts';

export type Preview = PreviewOf<'createMovement'>;
export type Created = ResultOf<'createMovement'>;

/**
 * Returns what the create request would do now, and whether its idempotency key has already created
 * a movement.
 */
export function previewOf({ key, body }: Pick<Pending, 'key' | 'body'>): Promise<Preview> {
  const call = theClient().call as (id: string, input: object) => Promise<unknown>;
  return call('createMovement', {
    body,
    idempotencyKey: key,
    dryRun: true,
  }) as Promise<Preview>;
}

export function create({ key, body }: { key: string; body: Body }): Promise<Created> {
  const input = { body, idempotencyKey: key } as unknown as Input<'createMovement'>;
  return theClient().call('createMovement', input);
}

const KEPT = 'console-create';

/**
 * Returns the stored create request, or null. `sessionStorage` keeps it over a reload, in this tab
 * only, until its outcome is known.
 */
export function readPending(operator: string): Pending | null {
  return typeof sessionStorage === 'undefined'
    ? null
    : pendingOf(sessionStorage.getItem(KEPT), operator);
}

export function keepPending(pending: Pending | null): void {
  if (pending === null) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, JSON.stringify(pending));
}
