/** Wire schemas of change requests. */
import { z } from 'zod';
import { CHANGE_STATES } from '../../domain/approval/change.ts';
import { REQUEST_KINDS } from '../../domain/approval/power.ts';
import type { JsonValue } from '../../domain/json.ts';
import { approvalsView, assertionBody } from '../approvals/schema.ts';
import { nextCursor, pageParameters } from '../http/paging.ts';
import { booleanInQuery, listOf, text, timestamp, uuid } from '../http/schemas.ts';

const kind = z.enum(REQUEST_KINDS);
const state = z.enum(CHANGE_STATES);
const json = z.custom<JsonValue>().meta({ id: 'JsonValue', description: 'Any JSON value.' });
const hash = text(64, 64).regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits');

export const changeView = z
  .object({
    change_request_id: uuid,
    kind,
    state: state.meta({
      description:
        '`applied`: done, exactly as approved. `failed`: the call was refused when it was made (`code`). `outdated`: what it names has changed meanwhile, or the database was restored.',
    }),
    hash: z.string().meta({ description: 'SHA-256 of the document; an approval names it.' }),
    author: z.string().nullable().meta({
      description: 'Who wants it: an API client, `dashboard:<operator>` or `fundadmin:<person>`.',
    }),
    method: z.string(),
    path: z.string(),
    body: json,
    subject: z.string().meta({ description: 'The table of the row that changes.' }),
    before: json.meta({ description: 'The row as it was; null: there was none.' }),
    after: json.meta({ description: 'The row that is written, without what is made on writing.' }),
    approvals: approvalsView,
    break_glass: z.boolean().meta({
      description: 'Whether the owner of the database made the change alone.',
    }),
    reason: z.string().nullable(),
    code: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp,
    ended_at: timestamp.nullable(),
    ended_by: z.string().nullable(),
  })
  .meta({ id: 'ChangeRequest' });
export type ChangeView = z.input<typeof changeView>;

export const changeList = z
  .object({ change_requests: listOf(changeView), next_cursor: nextCursor })
  .meta({ id: 'ChangeRequestList' });

export const changeListQuery = z.strictObject({
  state: state.optional(),
  kind: kind.optional(),
  break_glass: booleanInQuery.optional(),
  ...pageParameters,
});

export const changeParams = z.strictObject({ change_request_id: uuid });

const reason = text(1, 1_000).refine((words) => words.trim() !== '', 'must say why');

export const approveChangeBody = z
  .strictObject({
    hash: hash.meta({ description: 'The hash of the request that was reviewed.' }),
    reason: reason.optional().meta({ description: 'Why; a rule may require it.' }),
    assertion: assertionBody.optional(),
  })
  .meta({
    id: 'ChangeApproveRequest',
    examples: [{ hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }],
  });

export const rejectChangeBody = z
  .strictObject({ reason: reason.optional() })
  .optional()
  .meta({ id: 'ChangeRejectRequest', examples: [{ reason: 'not our counterparty' }] });

export const changeDocumentView = z
  .looseObject({
    id: uuid,
    kind,
    author: json,
    method: z.string(),
    path: z.string(),
    body: json,
    subject: z.string(),
    before: json,
    after: json,
  })
  .meta({ id: 'ChangeRequestDocument' });

/** What a call is answered that waits for people. */
export const changeAccepted = z
  .object({ change_request_id: uuid, kind, hash: z.string(), approvals: approvalsView })
  .meta({ id: 'ChangeRequested' });
