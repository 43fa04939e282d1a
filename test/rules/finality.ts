import type { Rule } from './rule.ts';

const section = 'When a block is final';
const STARTS = 'test/venues/evm/config.test.ts';
const CHAIN = 'test/venues/evm/finality.test.ts';

export const finalityRules: readonly Rule[] = [
  {
    id: 'weaker-finality-is-refused',
    section,
    rule: 'A venue entry that says less of a chain than is known of it stops the start, unless it says why.',
    test: {
      file: STARTS,
      name: 'is refused for each weaker entry, with its place and what to write',
    },
    broken: {
      file: 'domain/chains/finality.ts',
      find: '  const weaker = known === undefined ? null : whyWeaker(chosen, known);',
      replace: '  const weaker = known === null ? whyWeaker(chosen, known) : null;',
    },
  },
  {
    id: 'unknown-chains-say-their-finality',
    section,
    rule: 'A chain of which nothing is known does not start without saying how it becomes final.',
    test: {
      file: 'test/domain/chains/finality.test.ts',
      name: 'has to say how it becomes final',
    },
    broken: {
      file: 'domain/chains/finality.ts',
      find: '  if (known !== undefined) return { read: known.read, confirmations: null };',
      replace: "  if (chain_id > 0) return { read: 'finalized_tag', confirmations: null };",
    },
  },
  {
    id: 'final-rungs-wait-for-final-blocks',
    section,
    rule: 'A node that requires a final block is not completed by one that is only confirmed.',
    test: {
      file: CHAIN,
      name: 'is not completed before the tag says so on a chain that is known to have it',
    },
    broken: {
      file: 'domain/chains/assurance-table.ts',
      find: "  destination_finalized: {\n    block: 'final',",
      replace: "  destination_finalized: {\n    block: 'confirmed',",
    },
  },
  {
    id: 'final-blocks-are-found-as-the-chain-has-it',
    section,
    rule: 'On a chain whose blocks are counted the tag of its nodes makes nothing final.',
    test: {
      file: CHAIN,
      name: 'is not completed before the blocks that are counted on a chain without',
    },
    broken: {
      file: 'venues/evm/client.ts',
      find: '  if (confirmations === null) return',
      replace: '  if (confirmations !== 0) return',
    },
  },
];
