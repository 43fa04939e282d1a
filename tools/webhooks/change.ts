/** Changes and tries webhooks for commands. */
import { checkTarget } from '../../domain/callbacks/target.ts';
import { WEBHOOK_EVENTS, WEBHOOK_NAME, type WebhookEvent } from '../../domain/callbacks/webhook.ts';
import type { AuditAction } from '../../domain/events.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { ORIGIN } from '../../platform/config/kinds.ts';
import { removeWebhook, setWebhook, testWebhook, type Webhook } from '../../store/webhooks.ts';
import { setting, warnUnvouched, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

export interface NameOptions extends DatabaseOption {
  readonly name: string;
  readonly reason?: string;
}

export interface SetOptions extends NameOptions {
  readonly url: string;
  readonly event?: readonly WebhookEvent[];
  readonly consoleOrigin?: string;
}

const LONGEST_URL = 2_048;

/** Creates or replaces a webhook; throws a {@link ToolError} and writes nothing if it cannot be. */
export async function set(options: SetOptions, io: ToolIo): Promise<Webhook> {
  const name = nameOf(options);
  const url = addressOf(options.url, io);
  const { event } = options;
  const event_types =
    event === undefined ? null : WEBHOOK_EVENTS.filter((type) => event.includes(type));
  const console_origin = originOf(options, io);
  const audit = auditOf('webhook.set', options, io);
  // Not the whole address, which may hold a token.
  const details = { ...audit.details, host: new URL(url).host, event_types, console_origin };
  return withDatabase(options, io, (db) =>
    setWebhook(db, { name, url, event_types, console_origin }, { ...audit, details }),
  );
}

export async function remove(
  options: NameOptions,
  io: ToolIo,
): Promise<{ readonly name: string; readonly removed: true }> {
  const name = nameOf(options);
  const removed = await withDatabase(options, io, (db) =>
    removeWebhook(db, name, auditOf('webhook.remove', options, io)),
  );
  if (!removed) throw unknown(name);
  return { name, removed };
}

/** Queues a test message; a worker sends it. */
export async function send(
  options: NameOptions,
  io: ToolIo,
): Promise<{ readonly name: string; readonly event_id: string }> {
  const name = nameOf(options);
  const event_id = await withDatabase(options, io, (db) =>
    testWebhook(db, name, auditOf('webhook.test', options, io)),
  );
  if (event_id === null) throw unknown(name);
  return { name, event_id };
}

function nameOf({ name }: NameOptions): string {
  if (!WEBHOOK_NAME.test(name))
    throw new ToolError(
      '--name must be 1 to 63 lower case letters, digits and hyphens, and begin with no hyphen.',
      { exitCode: 2 },
    );
  return name;
}

/** Returns the address in its normal form, the form in which its host is compared. */
function addressOf(text: string, io: ToolIo): string {
  const hosts = new Set(setting(io, 'SVC_CALLBACK_ALLOWED_HOSTS_CSV') ?? []);
  const target = checkTarget(text, hosts);
  if (!target.ok && target.reason !== 'host_not_allowed')
    throw new ToolError('--url must be an https URL without a user, or http to this machine.', {
      exitCode: 2,
    });
  const { href } = new URL(text);
  if (href.length > LONGEST_URL)
    throw new ToolError(`--url must have at most ${String(LONGEST_URL)} characters.`, {
      exitCode: 2,
    });
  if (!target.ok)
    io.err(
      'SVC_CALLBACK_ALLOWED_HOSTS_CSV of this environment does not list the host: where the service does not list it either, each message becomes a dead letter.\n',
    );
  return href;
}

function originOf({ consoleOrigin }: SetOptions, io: ToolIo): string {
  const text = consoleOrigin ?? setting(io, 'SVC_CONSOLE_ORIGIN');
  if (text === undefined)
    throw new ToolError(
      'Say with --console-origin where people open the console, or set SVC_CONSOLE_ORIGIN.',
      { exitCode: 2 },
    );
  const origin = ORIGIN.schema.safeParse(text);
  if (!origin.success)
    throw new ToolError(
      '--console-origin must be like https://funds.example, without a path; http only for localhost.',
      { exitCode: 2 },
    );
  return origin.data;
}

function auditOf(action: AuditAction, { name, reason }: NameOptions, io: ToolIo): AuditEntry {
  warnUnvouched(io, 'change');
  return {
    action,
    entity_type: 'webhook',
    entity_key: name,
    outcome: 'success',
    reason: reason ?? null,
    details: { tool: 'fundadmin' },
  };
}

function unknown(name: string): ToolError {
  return new ToolError(`There is no webhook ${name}; see webhooks list.`);
}
