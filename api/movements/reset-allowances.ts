/** POST /movements/{movement_id}/actions/reset-allowances */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { ENDED_STATES, type MovementState } from '../../domain/states/movement.ts';
import { readOpenAllowances, type OpenAllowance } from '../../store/allowances.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { createMovement } from '../../store/movements.ts';
import { readReplacedSigners } from '../../store/signer-lifecycle.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { approve } from './verbs.ts';
import { shownAllowance } from './detail.ts';
import { makeMovement } from './make.ts';
import { planOf } from './plan.ts';
import { keyUseOf } from './replay.ts';
import { reservedVersion } from './reserved-version.ts';
import type { CreateResponse, ResetAllowancesResponse } from './responses.ts';

/** The reserved template; only this command registers its versions and creates from them. */
const RESET = {
  template_key: 'system/reset-allowances',
  name: 'Take an allowance back',
  completion_assurance: 'destination_finalized',
} as const;

/** The states in which an ended movement may have left an allowance. */
const RESETTABLE: readonly MovementState[] = ['COMPLETED', 'FAILED', 'CANCELLED'];

type Made = Pick<CreateResponse, 'movement_id' | 'request_state' | 'compiled_plan_hash'>;

/**
 * Takes back the allowances that an ended movement left: for each, the caller creates and approves
 * a movement with one `approve` of 0. While such a movement runs, a repeat returns it; after a
 * failed one, a new movement is created.
 */
export async function resetAllowances(
  input: { readonly params: { readonly movement_id: string }; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<ResetAllowancesResponse>> {
  const { params, requester } = input;
  const { movement_id } = params;
  const subject = {
    action: 'movement.reset_allowances',
    entity_type: 'movement',
    entity_key: movement_id,
  } as const;
  return auditedRefusal(deps, requester, subject, async () => {
    const found = await readMovement(deps.db, movement_id);
    if (found === null) throw new ServiceError('movement_not_found', { context: { movement_id } });
    const { request_state: current_state } = found;
    if (!RESETTABLE.includes(current_state))
      throw new ServiceError('invalid_state', {
        message: `A movement in ${current_state} does not accept the command reset_allowances.`,
        context: { current_state, allowed_states: RESETTABLE },
      });
    const open = await readOpenAllowances(deps.db, movement_id);
    const resets = [];
    for (const allowance of await stillSigned(open, deps)) {
      const { node_key } = allowance;
      const made = await approved(
        await resetOf(movement_id, allowance, requester, deps),
        requester,
        deps,
      );
      resets.push({ node_key, ...made });
    }
    return {
      status: 200,
      body: { movement_id, open_allowances: open.map(shownAllowance), resets },
    };
  });
}

/**
 * Returns allowances whose signer still signs: a replacement signer cannot take back another
 * signer's allowance. Throws when no such allowance is left.
 */
async function stillSigned(
  open: readonly OpenAllowance[],
  { db }: ApiDependencies,
): Promise<readonly OpenAllowance[]> {
  const replaced = new Set((await readReplacedSigners(db)).map(({ signer_key }) => signer_key));
  const able = open.filter(({ signer_key }) => !replaced.has(signer_key));
  if (open.length > 0 && able.length === 0) {
    const bindings = open.map(({ signer_key: key }) => ({
      binding: 'signer',
      key,
      reason: 'replaced',
    }));
    throw new ServiceError('binding_unavailable', { context: { bindings } });
  }
  return able;
}

/** Returns the movement that takes this allowance back: a running or a new movement. */
async function resetOf(
  movement_id: string,
  allowance: OpenAllowance,
  requester: Requester,
  deps: ApiDependencies,
): Promise<Made> {
  const scope = RESET.template_key;
  const { node_key, amount, asset } = allowance;
  for (let count = 1; ; count += 1) {
    const used = { scope, key: `${movement_id}/${node_key}/${String(count)}` };
    const use = await keyUseOf(used, deps);
    const earlier = use === null ? null : await readMovement(deps.db, use.movement_id);
    if (earlier !== null && ENDED_STATES.includes(earlier.request_state)) continue;
    if (earlier !== null) return earlier;
    const request = { template_key: RESET.template_key, movement_id, node_key };
    const compiled = await planOf(
      {
        template_key: RESET.template_key,
        template_version: await reservedVersion(nodeOf(allowance, deps), RESET, requester, deps),
        intent: { asset, amount },
        input_params: {},
      },
      deps,
      { reserved: true, signer: allowance.signer_key },
    );
    const { body } = await makeMovement(
      {
        ...compiled,
        requester,
        request,
        used,
        strategy_id: null,
        callback_url: null,
        labels: { reset_of: movement_id, node_key },
        approval_ttl_seconds: deps.settings.approvalTtlSeconds,
        subject: { action: 'movement.create', entity_type: 'movement' },
        message: `Takes back what ${node_key} of ${movement_id} allows ${allowance.spender}`,
        write: (movement) =>
          createMovement(deps.db, {
            ...movement,
            auto_approve_result: null,
            audit: (id) => [
              ...movement.audit(id),
              auditOf(requester, {
                action: 'movement.reset_allowances',
                entity_type: 'movement',
                entity_key: movement_id,
                details: { ...shownAllowance(allowance), reset_movement_id: id },
              }),
            ],
          }),
      },
      deps,
    );
    return body;
  }
}

function nodeOf(
  { chain_id, token_address, spender, asset, signer_key }: OpenAllowance,
  { signers }: ApiDependencies,
): TemplateNode {
  const { chain_family = 'evm', profile } =
    signers.list().find((signer) => signer.signer_key === signer_key) ?? {};
  return {
    node_key: 'reset',
    node_kind: 'action',
    action_type: 'evm_erc20_approve',
    has_side_effect: true,
    signer_selector: { chain_family, ...(profile === undefined ? {} : { profile }) },
    config: { asset, chain_id, token_address, spender, amount: '0' },
  };
}

/** Why an approval rule leaves the approval to others; the movement then waits for them. */
const LEFT_TO_OTHERS: readonly string[] = [
  'approver_excluded',
  'reason_required',
  'passkey_required',
];

/**
 * Approves the movement as the requester, unless a rule leaves that to others; a repeat may find a
 * movement that was created and not approved.
 */
async function approved(
  { movement_id, request_state, compiled_plan_hash }: Made,
  requester: Requester,
  deps: ApiDependencies,
): Promise<Pick<Made, 'movement_id' | 'request_state'>> {
  if (request_state !== 'PENDING_APPROVAL') return { movement_id, request_state };
  const approver_id = requester.caller.client_id ?? 'anonymous';
  const body = { compiled_plan_hash, approver_id };
  try {
    const reply = await approve({ params: { movement_id }, body, requester }, deps);
    return { movement_id, request_state: reply.body.request_state };
  } catch (error) {
    if (error instanceof ServiceError && LEFT_TO_OTHERS.includes(error.code))
      return { movement_id, request_state };
    throw error;
  }
}
