/** The routes of change requests: changes that wait for people. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { ChangeWaits } from '../../domain/approval/change.ts';
import { ServiceError, type ErrorCode } from '../../domain/errors.ts';
import { OPS_ROLES } from '../../domain/roles.ts';
import { readPersonOf } from '../../store/approvals.ts';
import {
  CHANGE_ACTION,
  decideChange,
  endChange,
  listChanges,
  readChange,
  releaseChange,
  withdrawChangeApproval,
  type ChangeEnd,
  type ChangeOutcome,
  type ChangeRequest,
} from '../../store/change-requests.ts';
import { challengeFor, evidenceOf } from '../approvals/evidence.ts';
import { challengeBody, challengeResponse } from '../approvals/schema.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { afterAccepting } from '../http/accepted.ts';
import { same } from '../http/differences.ts';
import { fetchPage, splitPage } from '../http/paging.ts';
import { defineRoute, type Reply, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import {
  approveChangeBody,
  changeDocumentView,
  changeList,
  changeListQuery,
  changeParams,
  changeView,
  rejectChangeBody,
  type ChangeView,
} from './schema.ts';
import { changeOf } from './view.ts';

const common = { tag: 'Change requests', roles: OPS_ROLES } as const;
const reads = { ...common, method: 'GET', acts: 'never', power: 'reads', body: noBody } as const;
const one = { params: changeParams, query: noQuery } as const;

export const changeRequestRoutes: readonly Route[] = [
  defineRoute({
    ...reads,
    id: 'listChangeRequests',
    path: '/change-requests',
    summary: 'List change requests, newest first',
    description:
      'Where an approval rule applies to the kind of a change, the call that makes it is answered 202 and waits here. What `fundadmin --break-glass` changed alone is listed too.',
    params: noParams,
    query: changeListQuery,
    response: changeList,
    errors: [],
    handler: async ({ query, requester: { caller } }, { db }) => {
      const [pageQuery, filter] = splitPage(query);
      const { items, next_cursor } = await fetchPage(
        pageQuery,
        (page) => listChanges(db, filter, page),
        ({ created_at, request_id }) => ({ created_at, id: request_id }),
      );
      const person = await readPersonOf(db, caller.client_id);
      const change_requests = items.map((each) => changeOf(each, { caller, person }));
      return { status: 200, body: { change_requests, next_cursor } };
    },
  }),
  defineRoute({
    ...reads,
    ...one,
    id: 'getChangeRequest',
    path: '/change-requests/{change_request_id}',
    summary: 'Read a change request',
    response: changeView,
    errors: ['change_request_not_found'],
    handler: async ({ params, requester }, deps) => {
      const { request, person } = await found(params, requester, deps);
      return { status: 200, body: changeOf(request, { caller: requester.caller, person }) };
    },
  }),
  defineRoute({
    ...reads,
    ...one,
    id: 'getChangeRequestDocument',
    path: '/change-requests/{change_request_id}/document',
    summary: 'Read the document of a change request',
    description:
      'RFC 8785 JSON of the call, its author, and the row before and after. Its SHA-256 is the hash that an approval names.',
    response: changeDocumentView,
    errors: ['change_request_not_found'],
    handler: async ({ params, requester }, deps) => {
      const { request } = await found(params, requester, deps);
      return { status: 200, text: request.document, type: 'application/json' };
    },
  }),
  defineRoute({
    ...common,
    ...one,
    id: 'approveChangeRequest',
    method: 'POST',
    power: 'moves',
    path: '/change-requests/{change_request_id}/approve',
    summary: 'Approve a change request',
    description:
      'The last approval that is needed makes the call as its author, exactly as it would be made now. A change of `fundadmin` is made by the same command again.',
    body: approveChangeBody,
    response: changeView,
    errors: [
      'change_request_not_found',
      'change_hash_mismatch',
      'change_request_ended',
      'change_outdated',
      'approver_excluded',
      'reason_required',
      'passkey_required',
      'assertion_refused',
    ],
    handler: approve,
  }),
  defineRoute({
    ...common,
    ...one,
    id: 'challengeChangeRequestApproval',
    method: 'POST',
    power: 'reads',
    path: '/change-requests/{change_request_id}/challenge',
    summary: 'Get what a passkey signs to approve a change request',
    body: challengeBody,
    response: challengeResponse,
    errors: ['change_request_not_found', 'approver_excluded'],
    handler: async ({ params, requester }, deps) => {
      const { request } = await found(params, requester, deps);
      const about = { kind: 'change_request', id: request.request_id, hash: request.hash } as const;
      return { status: 200, body: await challengeFor(about, requester, deps) };
    },
  }),
  defineRoute({
    ...common,
    ...one,
    id: 'withdrawChangeRequestApproval',
    method: 'POST',
    power: 'narrows',
    path: '/change-requests/{change_request_id}/withdraw-approval',
    summary: 'Withdraw your own approval of a change request',
    description:
      'While the request is open. It is the approval of your person, whatever key it was sent with; you may approve again.',
    body: noBody,
    response: changeView,
    errors: ['change_request_not_found', 'change_request_ended', 'no_approval'],
    handler: withdrawApproval,
  }),
  defineRoute({
    ...common,
    ...one,
    id: 'rejectChangeRequest',
    method: 'POST',
    power: 'narrows',
    path: '/change-requests/{change_request_id}/reject',
    summary: 'Reject a change request',
    body: rejectChangeBody,
    response: changeView,
    errors: ['change_request_not_found', 'change_request_ended'],
    handler: ({ params, body, requester }, deps) =>
      end({ ...params, state: 'rejected', reason: body?.reason }, requester, deps),
  }),
  defineRoute({
    ...common,
    ...one,
    id: 'withdrawChangeRequest',
    method: 'POST',
    power: 'narrows',
    path: '/change-requests/{change_request_id}/withdraw',
    summary: 'Withdraw your own change request',
    body: noBody,
    response: changeView,
    errors: ['change_request_not_found', 'change_request_ended', 'not_the_author'],
    handler: ({ params, requester }, deps) =>
      end({ ...params, state: 'withdrawn', only_author: true }, requester, deps),
  }),
];

interface Params {
  readonly change_request_id: string;
}

async function found(
  { change_request_id }: Params,
  { caller }: Requester,
  { db }: ApiDependencies,
): Promise<{ readonly request: ChangeRequest; readonly person: string | null }> {
  const read = await readChange(db, change_request_id, caller.client_id);
  if (read === null) throw notFound(change_request_id);
  return read;
}

async function approve(
  {
    params: { change_request_id },
    body: { hash, reason: sent, assertion },
    requester,
  }: {
    readonly params: Params;
    readonly body: z.output<typeof approveChangeBody>;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ChangeView>> {
  const { caller } = requester;
  const reason = sent ?? null;
  const subject = {
    action: 'change_request.approve',
    entity_type: 'change_request',
    entity_key: change_request_id,
    ...(reason === null ? {} : { reason }),
    details: { hash },
  } as const;
  const decided = await auditedRefusal(deps, requester, subject, async () =>
    accepted(
      change_request_id,
      await decideChange(deps.db, {
        request_id: change_request_id,
        hash,
        identity: caller.client_id,
        key_id: caller.key_id,
        reason,
        evidence: await evidenceOf(
          { kind: 'change_request', id: change_request_id, hash },
          assertion,
          requester,
          deps,
        ),
        audit: auditOf(requester, subject),
      }),
    ),
  );
  if (decided.performs) await perform(decided, requester, deps);
  return answered(change_request_id, requester, deps);
}

async function withdrawApproval(
  { params, requester }: { readonly params: Params; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<ChangeView>> {
  const { change_request_id } = params;
  const { caller } = requester;
  const { hash } = (await found(params, requester, deps)).request;
  const subject = {
    action: 'change_request.withdraw_approval',
    entity_type: 'change_request',
    entity_key: change_request_id,
    details: { hash },
  } as const;
  await auditedRefusal(deps, requester, subject, async () =>
    accepted(
      change_request_id,
      await withdrawChangeApproval(deps.db, {
        request_id: change_request_id,
        hash,
        identity: caller.client_id,
        key_id: caller.key_id,
        audit: auditOf(requester, subject),
      }),
    ),
  );
  return answered(change_request_id, requester, deps);
}

/** Makes the call of an approved request, or ends the request with why it is refused now. */
async function perform(
  {
    request,
    outdated: isOutdated,
  }: { readonly request: ChangeRequest; readonly outdated: boolean },
  requester: Requester,
  deps: ApiDependencies,
): Promise<void> {
  const { author, request_id: id } = request;
  // What fundadmin wants, only fundadmin can do.
  if (!('role' in author)) return;
  const { changes } = deps;
  if (changes === undefined) throw new Error('this API makes no calls of change requests');
  // Nothing would hold the call to what was approved.
  if (isOutdated) throw await outdated(id, requester, deps);
  try {
    await changes.perform(request, { author, request_id: requester.request_id });
  } catch (error) {
    if (error instanceof ChangeWaits) {
      if (isSame(error.effect, request)) {
        // An approval was withdrawn meanwhile: the next one makes the call again.
        await releaseChange(deps.db, id).catch(() => undefined);
        return;
      }
      throw await outdated(id, requester, deps);
    }
    // What may work later, or may have been done, leaves the request as it is: approve it again.
    if (!(error instanceof ServiceError) || error.status >= 500) {
      await releaseChange(deps.db, id).catch(() => undefined);
      throw error;
    }
    await close(id, { state: 'failed', code: error.code }, requester, deps);
    return;
  }
  // The row's write has ended the request; else the call wrote nothing that had to wait.
  const { request: now } = await found({ change_request_id: id }, requester, deps);
  if (now.state === 'open') throw await outdated(id, requester, deps);
}

/** Ends a request that names what is no longer so; returns the error that says so. */
async function outdated(
  change_request_id: string,
  requester: Requester,
  deps: ApiDependencies,
): Promise<ServiceError> {
  await close(change_request_id, { state: 'outdated' }, requester, deps);
  return new ServiceError('change_outdated', { context: { change_request_id } });
}

/** Returns whether the call would write the row that was approved: then approvals went missing. */
function isSame(
  effect: ChangeWaits['effect'],
  { kinds, subject, row_before, row_after }: ChangeRequest,
): boolean {
  return (
    effect.subject === subject &&
    effect.kinds.every((kind) => kinds.includes(kind)) &&
    same(effect.before, row_before) &&
    same(effect.after, row_after)
  );
}

/** Ends a request after its call; one that has ended meanwhile stays as it is. */
async function close(
  request_id: string,
  how: Pick<ChangeEnd, 'code'> & { readonly state: 'failed' | 'outdated' },
  requester: Requester,
  deps: ApiDependencies,
): Promise<void> {
  const audit = auditOf(requester, {
    action: CHANGE_ACTION[how.state],
    entity_type: 'change_request',
    entity_key: request_id,
    outcome: 'failed',
    reason: how.code ?? how.state,
  });
  await endChange(deps.db, { request_id, ...how, by: requester.caller.client_id, audit });
}

async function end(
  {
    change_request_id,
    state,
    only_author = false,
    reason,
  }: Params & {
    readonly state: 'rejected' | 'withdrawn';
    readonly only_author?: boolean;
    readonly reason?: string | undefined;
  },
  requester: Requester,
  deps: ApiDependencies,
): Promise<Reply<ChangeView>> {
  const subject = {
    action: CHANGE_ACTION[state],
    entity_type: 'change_request',
    entity_key: change_request_id,
    ...(reason === undefined ? {} : { reason }),
  } as const;
  await auditedRefusal(deps, requester, subject, async () =>
    accepted(
      change_request_id,
      await endChange(deps.db, {
        request_id: change_request_id,
        state,
        only_author,
        by: requester.caller.client_id,
        audit: auditOf(requester, subject),
      }),
    ),
  );
  return answered(change_request_id, requester, deps);
}

/** Returns the request as it is now, after something was accepted. */
function answered(
  id: string,
  requester: Requester,
  deps: ApiDependencies,
): Promise<Reply<ChangeView>> {
  return afterAccepting(async () => {
    const { request, person } = await found({ change_request_id: id }, requester, deps);
    return { status: 200, body: changeOf(request, { caller: requester.caller, person }) };
  });
}

function accepted(
  change_request_id: string,
  outcome: ChangeOutcome | null,
): Extract<ChangeOutcome, { ok: true }> {
  if (outcome === null) throw notFound(change_request_id);
  if (outcome.ok) return outcome;
  const { reason, ok: _ok, ...more } = outcome;
  throw new ServiceError(reason satisfies ErrorCode, { context: { change_request_id, ...more } });
}

function notFound(change_request_id: string): ServiceError {
  return new ServiceError('change_request_not_found', { context: { change_request_id } });
}
