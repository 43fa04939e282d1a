/** Who signs the plan's own mint of a burn that only one account may bring. */
import { specOf } from '../../domain/actions/built-in.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import { firstLegOf, legOn } from '../../domain/plan/legs.ts';
import { readPlanNodes } from '../../store/phases.ts';
import type { Requirement } from './requirement.ts';

export const minter: Requirement = {
  needs: ({ node: { action_type, config } }) =>
    specOf(action_type).requires?.kind === 'minter' &&
    typeof config['destination_caller'] === 'string',
  /** Before it is burnt: who looks at a burn needs no minter. */
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
        `whoever mints what ${row.node_key} burns is not one signer of this worker`,
      );
    return { minter: { signer_key, address: await addressOf(signer) } };
  },
  // What is signed names the account, and is compared with the plan.
  guard: null,
};
