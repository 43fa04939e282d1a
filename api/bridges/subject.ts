/** Audit subjects of changes to the bridge registry. */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import type { BridgePathKey } from '../../domain/bridges/registry.ts';
import type { AuditAction } from '../../domain/events.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import type { Subject } from '../audit/refused.ts';
import { invalidRequest } from '../http/issues.ts';

type Verb<Entity extends string> =
  Extract<AuditAction, `${Entity}.${string}`> extends `${Entity}.${infer Name}` ? Name : never;

export function chainSubject(verb: Verb<'bridge_chain'>, chain: string, body: object): Subject {
  return {
    action: `bridge_chain.${verb}`,
    entity_type: 'bridge_chain',
    entity_key: chain,
    details: detailsOf(body),
  };
}

export function pathSubject(
  verb: Verb<'bridge_path'>,
  { src_chain, dst_chain, asset }: BridgePathKey,
  body: object,
): Subject {
  return {
    action: `bridge_path.${verb}`,
    entity_type: 'bridge_path',
    entity_key: `${src_chain}/${dst_chain}/${asset}`,
    details: detailsOf(body),
  };
}

export function entryOf(requester: Requester, subject: Subject): AuditEntry {
  return auditOf(requester, subject);
}

/** Throws unless the keys in the body of a PUT equal those in its path. */
export function assertSame<Key extends string>(
  params: Readonly<Record<Key, string>>,
  body: Readonly<Partial<Record<Key, string | undefined>>>,
  keys: readonly Key[],
): void {
  const issues = keys.flatMap((path) =>
    body[path] === undefined || body[path] === params[path]
      ? []
      : [{ path, code: 'invalid_value', message: 'must equal the path, or be left out' }],
  );
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Returns the body as it was sent. */
function detailsOf(body: object): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}
