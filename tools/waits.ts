/**
 * Changes of `fundadmin` that wait for people: the command makes a change request, and makes the
 * change when it is run again after enough people have approved.
 */
import type { ChangeEffect } from '../domain/approval/change.ts';
import type { JsonValue } from '../domain/json.ts';
import { fundadminId } from '../domain/roles.ts';
import type { Database } from '../prisma/client.ts';
import { createChange } from '../store/change-requests.ts';
import { proveChange } from '../store/decisions.ts';
import { toolAudit } from './keys/audit.ts';
import { ToolError, type ToolIo } from './io.ts';

/** Options that are no part of the change; a secret is made or read when the change is made. */
const LEFT_OUT = /^(as|breakGlass|databaseUrl|reason)$|secret/i;

/**
 * Makes a change request for what the database refused, and throws a {@link ToolError} that says
 * what to do; with --break-glass, returns once the command may make the change alone.
 */
export async function requestChange(db: Database, effect: ChangeEffect, io: ToolIo): Promise<void> {
  const { name = '', options = {} } = io.command ?? {};
  const { as, breakGlass, reason } = options;
  const alone = breakGlass === true;
  // The rule may have come after requireActor of tools/acting.ts looked.
  if (typeof as !== 'string')
    throw new ToolError(
      `An approval rule for ${effect.kinds.join(' and ')} makes this change wait for people: say who you are with --as <person>.`,
    );
  if (alone && typeof reason !== 'string')
    throw new ToolError('--break-glass needs --reason.', { exitCode: 2 });
  const body = Object.fromEntries(
    Object.entries(options).filter(([key]) => !LEFT_OUT.test(key)),
  ) as JsonValue;
  const request = await createChange(db, {
    author: { client_id: fundadminId(as) },
    person: as,
    call: { method: 'fundadmin', path: name, body, idempotency_key: null },
    effect,
    ...(alone && typeof reason === 'string' ? { breakGlass: { reason } } : {}),
    audit: (id) => ({
      ...toolAudit('change_request.create', id),
      entity_type: 'change_request',
      ...(typeof reason === 'string' ? { reason } : {}),
      details: { tool: 'fundadmin', command: name, person: as, break_glass: alone },
    }),
  });
  if (request === null || alone) return;
  if (request.rules.every(({ met }) => met)) {
    // The database also lets it pass only once somebody without the service's rights has looked.
    if (await proveChange(db, request)) return;
    throw new ToolError(
      `The assertions of the approvals of change request ${request.request_id} do not verify, so nothing was written: somebody else than these people may have stored them. See fundadmin audit decisions.`,
    );
  }
  const missing = request.rules.filter(({ met }) => !met).map((rule) => rule.name);
  throw new ToolError(
    `This change waits as change request ${request.request_id}, and nothing was written. The rule ${missing.join(', ')} needs further approvals of it; once they are there, run the same command again. In an emergency, --break-glass --reason makes it at once, and everybody sees it.`,
  );
}
