/** Makes change requests for calls that wait for people, and the calls once they are approved. */
import type { z } from 'zod';
import type { ChangeCall } from '../../domain/approval/change.ts';
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/roles.ts';
import { readPersonOf } from '../../store/approvals.ts';
import { createChange } from '../../store/change-requests.ts';
import { mayStillCall } from '../../store/keys.ts';
import { refusalOf } from '../auth/admit.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ChangeDesk } from '../http/change-desk.ts';
import type { Match } from '../http/router.ts';
import { validate } from '../http/validate.ts';
import type { changeAccepted } from './schema.ts';
import { changeOf } from './view.ts';

export interface ChangeDeskOptions {
  /** Finds the route of a method and a path with its prefix. */
  readonly find: (method: string, path: string) => Match & { readonly own: boolean };
  /** Returns an operator of the dashboard with the present rights; null: has no key. */
  readonly operator: (name: string) => Promise<Caller | null>;
  /** The dependencies that calls get. */
  readonly deps: () => ApiDependencies;
}

/** Returns the desk over the routes that `find` finds. */
export function createChangeDesk({ find, operator, deps }: ChangeDeskOptions): ChangeDesk {
  /** Returns the author with the rights of now; throws `forbidden` if they are gone. */
  const present = async (author: Caller): Promise<Caller> => {
    const { db, settings } = deps();
    if (author.client_id === null && !settings.authEnabled) return author;
    const now =
      author.dashboard === undefined
        ? (await mayStillCall(db, author))
          ? author
          : null
        : await operator(author.dashboard.operator);
    if (now === null) throw new ServiceError('forbidden', { message: GONE });
    return now;
  };
  return {
    ask: async (waits, call, requester) => {
      const { caller } = requester;
      const { checked_at: _checked, ...author } = caller;
      const { db } = deps();
      const request = await createChange(db, {
        author,
        call,
        effect: waits.effect,
        audit: (id) =>
          auditOf(requester, {
            action: 'change_request.create',
            entity_type: 'change_request',
            entity_key: id,
            details: { kinds: waits.effect.kinds, method: call.method, path: call.path },
          }),
      });
      if (request === null) return null;
      const person = await readPersonOf(db, caller.client_id);
      const { change_request_id, kind, hash, approvals } = changeOf(request, { caller, person });
      const body: z.input<typeof changeAccepted> = { change_request_id, kind, hash, approvals };
      return { status: 202, body };
    },
    perform: async (
      { method, path, body, idempotency_key }: ChangeCall,
      { author, request_id },
    ) => {
      const match = find(method, path);
      if (match.kind !== 'route') throw new ServiceError('route_not_found');
      const { route, params, own } = match;
      const caller = await present(author);
      const refusal = own
        ? caller.dashboard?.allowlist === true
          ? null
          : new ServiceError('forbidden')
        : refusalOf(route, params, caller);
      if (refusal !== null) throw refusal;
      const input = validate(route, {
        params,
        query: '',
        body: body ?? undefined,
        dryRun: undefined,
        // Judged when the change was requested.
        idempotencyKey: undefined,
      });
      await route.handle(
        {
          ...input,
          headers: { 'idempotency-key': idempotency_key ?? undefined },
          requester: { caller, request_id },
        },
        deps(),
      );
    },
  };
}

const GONE = 'Whoever made the change request may no longer make this change: make it again.';
