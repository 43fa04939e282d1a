/** Builds the view of what a person should do about a movement, for the movement's detail. */
import type { Requester } from '../../domain/commands/context.ts';
import {
  approvalOffers,
  besidesCompromise,
  offersFor,
  sentenceOf,
  type AttentionFacts,
} from '../../domain/attention.ts';
import type { Allowance } from '../../domain/open-allowances.ts';
import { sendKey } from '../../domain/send/key.ts';
import { isoOfOrNull } from '../../store/json.ts';
import type { MovementDetail, NodeRecord } from '../../store/movement-reads.ts';
import { readSnapshot } from '../../store/movements.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { withoutSecretsInMessage } from '../redact.ts';
import type { AttentionView } from './responses.ts';

/** Returns null while no person is needed. The plan is read only if it is needed. */
export async function attentionOf(
  found: MovementDetail,
  { requester, open }: { readonly requester: Requester; readonly open: readonly Allowance[] },
  { db, redact, settings }: Pick<ApiDependencies, 'db' | 'redact' | 'settings'>,
): Promise<AttentionView | null> {
  if (found.attention === null) return null;
  const all = visibleFacts(found.attention, requester);
  const facts = besidesCompromise(all);
  const nodeOf = (each: AttentionFacts | undefined): NodeRecord | undefined =>
    found.nodes.find(({ node_key }) => node_key === each?.node_key);
  const node = nodeOf(facts);
  const gate = nodeOf([facts, facts.also].find((each) => each?.reason === 'manual_gate'));
  const offers =
    found.request_state === 'PENDING_APPROVAL'
      ? approvalOffers(found, requester)
      : offersFor(all, await readSnapshot(db, found.movement_id), { requester, open });
  return {
    reason: all.reason,
    // Sentences repeat what executors reported.
    message: withoutSecretsInMessage(sentenceOf(all, found.expires_at), redact),
    node_key: facts.node_key ?? null,
    description: gate === undefined ? null : gateDescription(gate),
    idempotency_key:
      facts.reason === 'unknown_outcome' && node !== undefined
        ? sendKey(found.movement_id, node)
        : null,
    last_answer: withoutSecretsInMessage(lastAnswer(facts), redact),
    attempt: facts.attempt ?? null,
    max_attempts: facts.max_attempts ?? null,
    errors: facts.errors ?? null,
    next_look_at: isoOfOrNull(facts.next_look_at ?? null),
    actions: offers
      // The free edition has no signer lifecycle.
      .filter(({ action }) => action !== 'rotate_signer' || settings.edition !== 'free')
      .map((offer) => ({ ...offer })),
  };
}

/** Returns what a gate's template tells a person to check; null without a description. */
export function gateDescription({
  node_kind,
  config,
}: Pick<NodeRecord, 'node_kind' | 'config'>): string | null {
  const { description } = config;
  return node_kind === 'manual_gate' && typeof description === 'string' ? description : null;
}

/** Removes `blocked_by` for an agent, who must not learn of other agents' movements. */
function visibleFacts(facts: AttentionFacts, { caller }: Requester): AttentionFacts {
  return caller.role === 'agent' ? { ...facts, blocked_by: null } : facts;
}

function lastAnswer({
  reason,
  external_ref,
  error_code,
  error_message,
}: AttentionFacts): string | null {
  if (reason === 'observed_long' && error_message == null && error_code == null)
    return external_ref == null ? 'not there yet' : `not there yet: ${external_ref}`;
  if (error_message === undefined || error_message === null) return error_code ?? null;
  return error_code === undefined || error_code === null
    ? error_message
    : `${error_code}: ${error_message}`;
}
