/** Builds the view of a change request. */
import { isObject, type JsonValue } from '../../domain/json.ts';
import type { Caller } from '../../domain/roles.ts';
import type { ChangeRequest } from '../../store/change-requests.ts';
import { approvalsOf } from '../approvals/view.ts';
import type { ChangeView } from './schema.ts';

/** Returns a request as the caller sees it, who is this person, if any. */
export function changeOf(
  request: ChangeRequest,
  { caller, person }: { readonly caller: Caller; readonly person: string | null },
): ChangeView {
  const { request_id, kinds, author, rules, row_before, row_after } = request;
  const [kind] = kinds;
  const approvals =
    approvalsOf({ rules, person }, { caller, waits: request.state === 'open' }) ?? NO_RULE;
  if (kind === undefined) throw new Error(`the change request ${request_id} has no kind`);
  return {
    change_request_id: request_id,
    kind,
    state: request.state,
    hash: request.hash,
    author: author.client_id,
    method: request.method,
    path: request.path,
    body: withoutQuery(request.body),
    subject: request.subject,
    before: row_before,
    after: row_after,
    approvals,
    break_glass: request.break_glass,
    reason: request.reason,
    code: request.code,
    created_at: request.created_at,
    expires_at: request.expires_at,
    ended_at: request.ended_at,
    ended_by: request.ended_by,
  };
}

/** Returns a body without the query of its callback address, which may hold a token. */
function withoutQuery(body: JsonValue): JsonValue {
  if (!isObject(body) || typeof body['callback_url'] !== 'string') return body;
  return { ...body, callback_url: body['callback_url'].replace(/\?.*/s, '') };
}

/** The glass was broken where no rule held. */
const NO_RULE: ChangeView['approvals'] = {
  ...{ rules: [], required: [], decisions: [] },
  you: { may: false, why_not: 'not_waiting', evidence: 'any', approved: false },
};
