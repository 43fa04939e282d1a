/**
 * The spec of every action type. Built-in types are listed here; the spec of a team's own type
 * comes from its executor's declaration.
 */
import { BRIDGE_C_ACTIONS } from './bridge-c.ts';
import { BURN_MINT_ACTIONS } from './burn-mint.ts';
import { CEX_ACTIONS } from './cex.ts';
import { CONTROL_ACTIONS } from './control.ts';
import { EVM_ACTIONS } from './evm.ts';
import { PERP_ACTIONS } from './perp.ts';
import type { NodeKind } from '../graph/types.ts';
import { HOUR_SECONDS, type ActionName, type ActionSpec } from './spec.ts';

export const BUILT_IN_ACTIONS = {
  ...CEX_ACTIONS,
  ...EVM_ACTIONS,
  ...BURN_MINT_ACTIONS,
  ...BRIDGE_C_ACTIONS,
  ...PERP_ACTIONS,
  ...CONTROL_ACTIONS,
} as const satisfies Readonly<Record<ActionName, ActionSpec>>;

/** Returns whether the service itself implements this action type. */
export function isBuiltIn(actionType: string): actionType is ActionName {
  return Object.hasOwn(BUILT_IN_ACTIONS, actionType);
}

/** What the executor registry states about the executor of a team's own action type. */
export interface DeclaredAction {
  readonly sends?: boolean | undefined;
  readonly usual_seconds?: number | undefined;
}

/**
 * Spec of a team's own action type when its executor declares nothing: the type counts as sending.
 */
const OWN: ActionSpec = {
  signs: null,
  sends: true,
  idle: false,
  allowance: false,
  reserved: false,
  token: null,
  pool: 'own',
  payees: 'declared',
  amount: 'plan',
  sent: 'submitted_amount',
  puller: null,
  crossing: null,
  checks: [],
  claim: null,
  watches: null,
  signerTie: null,
  requires: null,
  defaults: {},
  transport: null,
  venue: 'source',
  usualSeconds: HOUR_SECONDS,
};

/**
 * Returns the spec of an action type. A declaration never changes the spec of a built-in type.
 * Whether a team's own type sends is decided by its executor's declaration, never by the template's
 * `has_side_effect` or by anything that a caller writes.
 */
export function specOf(
  actionType: string,
  { sends = OWN.sends, usual_seconds: usualSeconds = OWN.usualSeconds }: DeclaredAction = {},
): ActionSpec {
  return isBuiltIn(actionType) ? BUILT_IN_ACTIONS[actionType] : { ...OWN, sends, usualSeconds };
}

/**
 * Returns whether a plan node moves funds. Observe nodes and manual gates never do; for other nodes
 * the spec of the action type decides.
 */
export function isSending(
  { node_kind, action_type }: { readonly node_kind: NodeKind; readonly action_type: string },
  executorSends: boolean,
): boolean {
  if (node_kind === 'observe' || node_kind === 'manual_gate') return false;
  return specOf(action_type, { sends: executorSends }).sends;
}
