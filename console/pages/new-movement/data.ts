/** What the form reads, previews and sends; and the create whose answer is not known yet. */
import type { Input, PreviewOf, ResultOf } from '../../../clients/http/operations.ts';
import { theClient } from '../../data/session.ts';
import type { Body } from '../../parts/write.tsx';
import { pendingOf, type Pending } from './model.ts';

export type Preview = PreviewOf<'createMovement'>;
export type Created = ResultOf<'createMovement'>;

/** What the same create would do now, and whether its key has made a movement already. */
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

/** Kept by this tab alone, over a reload, until its answer is known. */
export function readPending(operator: string): Pending | null {
  return typeof sessionStorage === 'undefined'
    ? null
    : pendingOf(sessionStorage.getItem(KEPT), operator);
}

export function keepPending(pending: Pending | null): void {
  if (pending === null) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, JSON.stringify(pending));
}
