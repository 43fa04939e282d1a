/** GET and POST /admin/cutover-mode: the switch that stops new money. */
import { z } from 'zod';
import { auditOf } from '../../domain/commands/context.ts';
import { CUTOVER_MODES } from '../../domain/cutover.ts';
import { ADMIN_ROLES, OPS_ROLES } from '../../domain/roles.ts';
import { readCutover, setCutover } from '../../store/cutover.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { jsonObject, noBody, noParams, noQuery, oneOf, text, timestamp } from '../http/schemas.ts';

const body = z.strictObject({ mode: z.enum(CUTOVER_MODES), reason: text(1, 1_000) }).meta({
  id: 'CutoverModeRequest',
  examples: [{ mode: 'normal', reason: 'The signing service runs on its new host.' }],
});

const view = z
  .object({
    mode: oneOf(CUTOVER_MODES),
    previous_mode: oneOf(CUTOVER_MODES).nullable(),
    reason: z.string().nullable(),
    changed_at: timestamp.nullable(),
    changed_by: jsonObject.nullable(),
  })
  .meta({ id: 'CutoverMode' });

const shared = {
  path: '/admin/cutover-mode',
  tag: 'Administration',
  params: noParams,
  query: noQuery,
  response: view,
  errors: [],
} as const;

export const cutoverRoutes: readonly Route[] = [
  defineRoute({
    ...shared,
    id: 'getCutoverMode',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    roles: OPS_ROLES,
    summary: 'Whether new money is let in',
    body: noBody,
    handler: async (_input, { db }) => ({ status: 200, body: await readCutover(db) }),
  }),
  defineRoute({
    ...shared,
    id: 'setCutoverMode',
    method: 'POST',
    power: { widens: 'cutover' },
    roles: ADMIN_ROLES,
    summary: 'Stop new money, or let it in again',
    description:
      '`drain`: no new movements or capital transfers; what runs goes on. `frozen`: moreover nothing passes the fence before a ' +
      'send; nodes wait there, which does not count into `execution_seconds`, and go on after `normal` or `drain`. What passed ' +
      'its fence before may still go out until its `send_not_after`, and is followed to its end. ' +
      'An authorization that a team’s executor already has can be used until its `validBefore`, ' +
      'an hour after its fence at most. It holds in every process once this is answered.',
    body,
    handler: async ({ body: { mode, reason }, requester }, { db }) => {
      const { client_id, key_id, role } = requester.caller;
      const audit = auditOf(requester, {
        action: 'cutover.set_mode',
        entity_type: 'cutover_mode',
        entity_key: 'cutover_mode',
        reason,
        details: { mode },
      });
      const changed_by = { client_id, key_id, role };
      return {
        status: 200,
        body: await setCutover(db, { mode, reason, changed_by, audit: [audit] }),
      };
    },
  }),
];
