/**
 * The facts about a node's action type that the database needs. They are stored with each node when
 * its movement is created, outside the hashed plan, and never change. The SQL reads these columns
 * and names no action type, so its guards also hold for a team's own types.
 */
import { specOf } from '../actions/built-in.ts';
import type { ActionSpec, ClaimSpec, PayeeSpec } from '../actions/spec.ts';
import type { TemplateNode } from './types.ts';

export interface NodeFacts {
  /**
   * The kind of payee, for the short send fence (the simplified last check before a send). `chain`:
   * the node signs, so its payees are read from what it signs; `spender`: the node sets an
   * allowance; `declared`: a team's own action type, for which only the executor can declare that
   * the node pays no one.
   */
  readonly pays: 'nobody' | 'exchange' | 'chain' | 'spender' | 'declared';
  /** When the node's completion needs a claim; `output.<field>`: when its output has this field. */
  readonly claims_when: 'never' | 'always' | `output.${ClaimSpec['required']}`;
  /** The output field that reports how much of the node's amount was sent. */
  readonly sent_field: ActionSpec['sent'];
  /** Why the node stays with a replaced signer although it has sent nothing. */
  readonly tied_by: 'nothing' | NonNullable<ActionSpec['signerTie']>;
  /**
   * Whether the node can have sent anything, whoever runs it: after a restore its executor looks
   * for such a send.
   */
  readonly may_send: boolean;
}

export function nodeFacts({
  node_kind,
  action_type,
}: Pick<TemplateNode, 'node_kind' | 'action_type'>): NodeFacts {
  const { payees, claim, sent, signerTie, idle, requires } = specOf(action_type);
  // The short send fence does not check what a venue requires.
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
