/**
 * The requirement of a burn whose funds only one account may mint: the signer of the plan's mint
 * node.
 */
import { specOf } from '../../domain/actions/built-in.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { firstLegOf, legOn } from '../../domain/plan/legs.ts';
import { readPlanNodes } from '../../store/phases.ts';
import type { Requirement } from './requirement.ts';

export const minter: Requirement = {
  needs: ({ node: { action_type, config } }) =>
    specOf(action_type).requires?.kind === 'minter' &&
    typeof config['destination_caller'] === 'string',
  /** Returns the minter for the burn; a look needs none. */
  async terms(deps, row, { purpose, addressOf }) {
    if (purpose === 'look') return {};
    const nodes = await readPlanNodes(deps.db, row.movement_id);
    const keys = new Set(
      nodes
        .filter(
          (node) => legOn('attested', node.action_type) === 2 && firstLegOf(node) === row.node_key,
        )
        .map(({ signer_binding }) => signer_binding?.signer_key ?? ''),
    );
    const [signer_key] = keys;
    if (signer_key === undefined) return {};
    const signer = deps.signers.get(signer_key);
    if (signer === undefined || keys.size > 1)
      throw new ExecutorFault(
        'unreachable',
        'SIGNER_MISSING',
        `the mint for the burn ${row.node_key} must have exactly one signer in this worker`,
      );
    return { minter: { signer_key, address: await addressOf(signer) } };
  },
  // No check at the send: the signed bytes name the minter's account, and signing compares them
  // with the plan.
  guard: null,
};
