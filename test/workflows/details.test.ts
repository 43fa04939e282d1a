/** What the Temporal UI shows of a run, with names that try to be more than names. */
import type { LoadedMovement, LoadedNode } from '../../domain/messages.ts';
import { NODE_STATES } from '../../domain/states/node.ts';
import { currentDetails } from '../../workflows/details.ts';

const node = (
  node_key: string,
  state: LoadedNode['state'],
  error_code: string | null = null,
): LoadedNode => ({
  node_key,
  state,
  error_code,
  node_kind: 'action',
  attempt: 1,
  resumed: false,
  recover_first: false,
  settled_order: 0,
  executor_key: 'paper.withdrawal',
});

const movement = (
  nodes: readonly LoadedNode[],
  template_key = 'starter/withdraw',
): LoadedMovement => ({
  movement_id: '0190',
  state: 'EXECUTING',
  reservation_status: 'held',
  version: 1,
  template_key,
  template_version: 2,
  strategy_id: null,
  asset: 'USDC',
  ended: false,
  error_code: null,
  frontier: [],
  ttl_ms: 0,
  edges: [],
  nodes,
});

const many = (
  count: number,
  state: (index: number) => LoadedNode['state'],
): readonly LoadedNode[] =>
  Array.from({ length: count }, (_, index) => node(`node-${String(index)}`, state(index)));

describe('current details', () => {
  it('are a heading and a row a node', () => {
    expect(
      currentDetails(
        movement([node('withdraw', 'COMPLETED'), node('sweep', 'FAILED', 'TX_REVERTED')]),
      ),
    ).toBe(
      [
        '**EXECUTING** · starter/withdraw v2 · USDC',
        '',
        '| node | state | attempt | error |',
        '|---|---|---|---|',
        '| sweep | FAILED | 1 | TX\\_REVERTED |',
        '| withdraw | COMPLETED | 1 |  |',
      ].join('\n'),
    );
  });

  it.each([
    ['PENDING_APPROVAL', [], null, 'waits for an approval'],
    [
      'WAITING_MANUAL_ACTION',
      [
        node('sweep', 'READY'),
        { ...node('done', 'COMPLETED'), node_kind: 'manual_gate' },
        { ...node('ask', 'READY'), node_kind: 'manual_gate' },
      ],
      null,
      'waits at gate ask',
    ],
    [
      'MANUAL_INTERVENTION',
      [node('first', 'COMPLETED'), node('a', 'UNKNOWN'), node('b', 'UNKNOWN')],
      null,
      'the outcome of a and 1 more is unknown',
    ],
    [
      'FAILED',
      [node('tried', 'FAILED', 'HANDLED'), node('pay', 'FAILED', 'BANK')],
      'BANK',
      'failed at pay',
    ],
  ] as const)('of one that is %s say what it waits for', (state, nodes, error_code, words) => {
    const [head] = currentDetails({ ...movement(nodes), state, error_code }).split('\n');
    expect(head).toBe(`**${state}** · ${words} · starter/withdraw v2 · USDC`);
  });

  it('say in short lines how to ask about a node that is unknown, and how to answer for it', () => {
    const view = {
      ...movement([node('pay', 'UNKNOWN', 'RECOVERY_INCONCLUSIVE')]),
      state: 'MANUAL_INTERVENTION',
    } as const;
    const lines = currentDetails(view).split('\n');
    expect(lines.slice(2, 11)).toEqual([
      '**pay** is UNKNOWN · RECOVERY\\_INCONCLUSIVE',
      '',
      'key: 0190:pay:1',
      '',
      'last words: fundctl movements show 0190',
      '',
      'then: fundctl movements resolve 0190 pay',
      '',
      '--outcome completed|failed|abandoned --reason … --evidence reference=…',
    ]);
    const again = currentDetails(movement([{ ...node('pay', 'UNKNOWN'), attempt: 2 }]));
    expect(again.split('\n')).toEqual(
      expect.arrayContaining([
        'key: 0190:pay:2',
        '--outcome completed|failed|abandoned --attempt 2 --reason … --evidence reference=…',
      ]),
    );
    expect(currentDetails(movement([node('pay', 'FAILED', 'BANK')]))).not.toContain('resolve');
  });

  it.each([
    ['a cell', 'a | COMPLETED | 1', 'a \\| COMPLETED \\| 1'],
    ['rows', 'a\n\r\n| b\u2028c\u0085d', 'a \\| b c d'],
    ['code', '`a`', '\\`a\\`'],
    ['HTML', '<img src=x onerror=alert(1)>', '\\<img src=x onerror=alert\\(1\\)\\>'],
    ['an entity', '&lt;b&gt;', '\\&lt;b\\&gt;'],
    ['a link', '[click](https://x.example)', '\\[click\\]\\(https\\://x.example\\)'],
    ['a bare address', 'www.x.example me@x.example', 'www\\.x.example me\\@x.example'],
    ['emphasis', '**DONE** ~~x~~ _y_', '\\*\\*DONE\\*\\* \\~\\~x\\~\\~ \\_y\\_'],
    ['an escape of the escape', 'a\\| b', 'a\\\\\\| b'],
    ['reversed text', 'a\u202eDELIAF', 'a DELIAF'],
    ['half a character', 'a\ud83d', 'a'],
  ])('do not let a name become %s', (_name, key, shown) => {
    const text = currentDetails(movement([node(key, 'READY')], key));
    expect(text.split('\n')).toEqual([
      `**EXECUTING** · ${shown} v2 · USDC`,
      '',
      '| node | state | attempt | error |',
      '|---|---|---|---|',
      `| ${shown} | READY | 1 |  |`,
    ]);
  });

  it('cut a long name between characters', () => {
    const text = currentDetails(movement([node('😀'.repeat(100), 'READY')]));
    expect(text).toContain(`| ${'😀'.repeat(63)}… |`);
  });

  it('of a big graph count the states and list what is open', () => {
    const text = currentDetails(
      movement(
        many(200, (index) => (index < 100 ? 'COMPLETED' : index < 103 ? 'OBSERVING' : 'BLOCKED')),
      ),
    );
    expect(text).toContain('200 nodes: 100 COMPLETED, 3 OBSERVING, 97 BLOCKED');
    expect(text.match(/^\| node-\d+ \| OBSERVING/gm)).toHaveLength(3);
    expect(text).not.toMatch(/^\| node-\d+ \| (COMPLETED|BLOCKED)/m);
    expect(currentDetails(movement(many(51, () => 'BLOCKED')))).not.toContain('| node |');
  });

  it('never hide a node that needs a look behind those that do not', () => {
    for (const state of NODE_STATES) {
      const listed = currentDetails(
        movement(many(200, (index) => (index === 150 ? state : 'COMPLETED'))),
      ).includes('| node-150 |');
      expect([state, listed]).toEqual([
        state,
        !['BLOCKED', 'COMPLETED', 'SKIPPED', 'CANCELLED'].includes(state),
      ]);
    }
  });

  it('stay small for the biggest graph with the worst names', () => {
    const text = currentDetails(
      movement(many(200, () => 'READY').map((each) => ({ ...each, node_key: '|'.repeat(128) }))),
    );
    expect(text).toContain('and 160 more of these');
    expect(Buffer.byteLength(text)).toBeLessThan(10_000);
  });
});
