/**
 * What the database needs to know about a node's action type. It is stored with each node when its
 * movement is created, outside the hashed plan, and never changes. SQL reads these columns and
 * names no type, so that its guards hold for every type, a team's own too.
 */
import { specOf } from '../actions/built-in.ts';
import type { ActionSpec, ClaimSpec, PayeeSpec } from '../actions/spec.ts';
import type { TemplateNode } from './types.ts';

export interface NodeFacts {
  /**
   * Whom it pays, for the short fence. `chain`: it signs, so its payees are read from what it
   * signs; `spender`: it sets an allowance; `declared`: a team's own type, whose executor alone can
   * say that it pays no one.
   */
  readonly pays: 'nobody' | 'exchange' | 'chain' | 'spender' | 'declared';
  /** When its completion needs a claim; `output.<field>`: once its output has this field. */
  readonly claims_when: 'never' | 'always' | `output.${ClaimSpec['required']}`;
  /** The field of its output that says how much of its amount was sent. */
  readonly sent_field: ActionSpec['sent'];
  /** Why it stays with a signer that was replaced, though it has sent nothing. */
  readonly tied_by: 'nothing' | NonNullable<ActionSpec['signerTie']>;
  /**
   * Whether it can have sent anything, whoever runs it: after a restore its executor looks for
   * that.
   */
  readonly may_send: boolean;
}

export function nodeFacts({
  node_kind,
  action_type,
}: Pick<TemplateNode, 'node_kind' | 'action_type'>): NodeFacts {
  const { payees, claim, sent, signerTie, idle, requires } = specOf(action_type);
  // The short fence checks nothing that a venue requires.
  const isPlain = requires === null;
  return {
    pays: isPlain || payees !== 'none' ? paysOf(payees) : 'chain',
    claims_when: claimsWhen(claim),
    sent_field: sent,
    tied_by: signerTie ?? 'nothing',
    may_send: node_kind !== 'observe' && node_kind !== 'manual_gate' && !idle,
  };
}

function paysOf(payees: PayeeSpec): NodeFacts['pays'] {
  if (payees === 'none') return 'nobody';
  return typeof payees === 'object' || payees === 'sub_account' ? 'chain' : payees;
}

function claimsWhen(claim: ClaimSpec | null): NodeFacts['claims_when'] {
  if (claim === null) return 'never';
  return claim.required === 'always' ? 'always' : `output.${claim.required}`;
}
