/**
 * The sample bridge: its own files lie here under the paths that they have in the tree, with `.txt`
 * behind, so that nothing of the product reads them. What it needs in files of others is `EDITS`.
 */
export interface Edit {
  readonly file: string;
  /** Stands once in the file; `added` is put right behind it. */
  readonly behind: string;
  readonly added: string;
}

export const EDITS: readonly Edit[] = [
  {
    file: 'domain/actions/spec.ts',
    behind: "  'bridge_c_observe',",
    added: "\n  'sample_send',\n  'sample_arrive',",
  },
  {
    file: 'domain/actions/spec.ts',
    behind: "  bridge_c: { entry: 'bridge_c', paths: 'registered' },",
    added: "\n  sample: { entry: 'sample', paths: 'attested' },",
  },
  {
    file: 'domain/actions/built-in.ts',
    behind: "import { PERP_ACTIONS } from './perp.ts';",
    added: "\nimport { SAMPLE_ACTIONS } from './sample.ts';",
  },
  {
    file: 'domain/actions/built-in.ts',
    behind: '  ...BRIDGE_C_ACTIONS,',
    added: '\n  ...SAMPLE_ACTIONS,',
  },
  {
    file: 'venues/list.ts',
    behind: "import { perp } from './perp/index.ts';",
    added: "\nimport { sample } from './sample/index.ts';",
  },
  {
    file: 'venues/list.ts',
    behind: 'const BRIDGES: readonly Venue[] = [burnMint, bridgeC',
    added: ', sample',
  },
  {
    file: 'test/store/action-types.test.ts',
    behind: "  bridge_c_observe: ['nobody', 'always', 'submitted_amount', 'nothing', true],",
    added: [
      '',
      "  sample_send: ['chain', 'never', 'submitted_amount', 'allowance', true],",
      "  sample_arrive: ['nobody', 'always', 'submitted_amount', 'nothing', true],",
    ].join('\n'),
  },
  {
    file: 'docs/venues.md',
    behind: "| `bridge_c` | the chain's part of [bridge_c](#bridge_c) |",
    added: "\n| `sample` | the chain's part of the sample bridge: `domain`, `gate`, `hub` |",
  },
];
