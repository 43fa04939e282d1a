/** Drawing plans and movements. */
import { signedFetch } from '../support/signed-fetch.ts';
import {
  shared,
  API,
  act,
  approve,
  create,
  edge,
  expectInvalid,
  expectRefusal,
  gate,
  get,
  must,
  noop,
  reaches,
  registered,
  run,
  transfer,
  type TemplateView,
} from '../support/http.ts';

const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';

interface GraphView {
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly edges: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

const graphOf = (movementId: string): Promise<GraphView> =>
  must(200, get<GraphView>(`/movements/${movementId}/graph`));
/** Each edge as `from>to:type status`. */
const statuses = (graph: GraphView): readonly string[] =>
  graph.edges.map(
    (each) =>
      `${String(each['from'])}>${String(each['to'])}:${String(each['edge_type'])} ${String(each['status'])}`,
  );

async function diagram(path: string): Promise<string> {
  const response = await signedFetch(shared.keys.admin, `${API}${path}?format=mermaid`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; charset=utf-8',
  ]);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  return response.text();
}

/** `a`, then a gate and an alternative; `undo` for a cancel. */
const branching = (): Promise<TemplateView> =>
  registered(
    [
      noop('a'),
      gate('check'),
      noop('other'),
      noop('last'),
      { ...noop('undo'), node_kind: 'compensation' },
    ],
    {
      edges: [
        edge('a', 'check', 'on_success', {
          condition_expr: 'dec(intent.amount) > dec("1")',
          priority: 2,
        }),
        edge('a', 'other', 'on_failure'),
        edge('check', 'last', 'on_success', { join_key: 'j' }),
        edge('a', 'undo', 'on_cancel'),
      ],
    },
  );

describe('the graph of a movement', () => {
  test('has states, bindings and what became of each edge', async () => {
    const of = await branching();
    const { movement_id } = await run(of, 'WAITING_MANUAL_ACTION');
    const graph = await graphOf(movement_id);
    const bound = { executor_key: 'builtin.noop', signer_key: null, attempt: 1, error_code: null };
    const action = { node_kind: 'action', action_type: 'noop', ...bound };
    expect(graph).toEqual({
      movement_id,
      request_state: 'WAITING_MANUAL_ACTION',
      template_key: of.template_key,
      template_version: 1,
      nodes: [
        { node_key: 'a', state: 'COMPLETED', ...action },
        {
          node_key: 'check',
          state: 'READY',
          node_kind: 'manual_gate',
          action_type: 'manual_gate',
          ...bound,
          executor_key: expect.any(String),
        },
        { node_key: 'other', state: 'SKIPPED', ...action },
        { node_key: 'last', state: 'BLOCKED', ...action },
        { node_key: 'undo', state: 'BLOCKED', ...action, node_kind: 'compensation' },
      ],
      edges: [
        {
          from: 'a',
          to: 'check',
          edge_type: 'on_success',
          priority: 2,
          join_key: null,
          status: 'fired',
          condition_expr: 'dec(intent.amount) > dec("1")',
        },
        {
          from: 'a',
          to: 'other',
          edge_type: 'on_failure',
          priority: 0,
          join_key: null,
          condition_expr: null,
          status: 'dead',
        },
        {
          from: 'check',
          to: 'last',
          edge_type: 'on_success',
          priority: 0,
          join_key: 'j',
          condition_expr: null,
          status: 'pending',
        },
        {
          from: 'a',
          to: 'undo',
          edge_type: 'on_cancel',
          priority: 0,
          join_key: null,
          condition_expr: null,
          status: 'pending',
        },
      ],
    });
    await must(200, act(movement_id, 'resume'));
    await reaches(movement_id, 'COMPLETED');
    expect(statuses(await graphOf(movement_id))).toEqual([
      'a>check:on_success fired',
      'a>other:on_failure dead',
      'check>last:on_success fired',
      'a>undo:on_cancel dead',
    ]);
  });

  test('waits as a whole before the approval, and is dead after a rejection', async () => {
    const movement = await create(await branching());
    expect(
      new Set((await graphOf(movement.movement_id)).edges.map((each) => each['status'])),
    ).toEqual(new Set(['pending']));
    await must(200, act(movement.movement_id, 'reject'));
    expect(
      new Set((await graphOf(movement.movement_id)).edges.map((each) => each['status'])),
    ).toEqual(new Set(['dead']));
  });

  test('shows after a cancel what had fired and what the cancel led to', async () => {
    const movement = await create(await branching());
    await approve(movement);
    await reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    await must(200, act(movement.movement_id, 'cancel'));
    await reaches(movement.movement_id, 'CANCELLED');
    const graph = await graphOf(movement.movement_id);
    expect(statuses(graph).slice(1)).toEqual([
      'a>other:on_failure dead',
      'check>last:on_success dead',
      'a>undo:on_cancel fired',
    ]);
  });

  test('follows a condition that does not hold', async () => {
    const edges = [
      edge('a', 'big', 'on_success', {
        condition_expr: 'dec(intent.amount) > dec("1000")',
        priority: 1,
      }),
      edge('a', 'small', 'on_success'),
    ];
    const { movement_id } = await run(
      await registered([noop('a'), noop('big'), noop('small')], { edges }),
      'COMPLETED',
    );
    expect(statuses(await graphOf(movement_id))).toEqual([
      'a>big:on_success dead',
      'a>small:on_success fired',
    ]);
  });

  test('names the failure and the attempt', async () => {
    const failing = noop('a', { risk_patch: { max_amount: '0.000001' } });
    const { movement_id } = await run(await registered([failing]), 'FAILED');
    expect((await graphOf(movement_id)).nodes).toMatchObject([
      { state: 'FAILED', error_code: 'MAX_AMOUNT_EXCEEDED', attempt: 1 },
    ]);
    await must(200, act(movement_id, 'retry'));
    await reaches(movement_id, 'FAILED');
    expect((await graphOf(movement_id)).nodes).toMatchObject([{ state: 'FAILED', attempt: 2 }]);
    expect(await diagram(`/movements/${movement_id}/graph`)).toContain(
      'FAILED#44;#32;attempt#32;2<br/>executor#32;builtin#46;noop',
    );
  });

  test('is drawn with its states and a legend', async () => {
    const { movement_id } = await run(await branching(), 'WAITING_MANUAL_ACTION');
    const text = await diagram(`/movements/${movement_id}/graph`);
    expect(text.split('\n').slice(0, 10)).toEqual([
      'flowchart TD',
      expect.stringMatching(/^ {2}n0\["a<br\/>action#58;#32;noop<br\/>COMPLETED<br\/>/),
      expect.stringMatching(
        /^ {2}n1\{\{"check<br\/>manual_gate#58;#32;manual_gate<br\/>READY<br\/>/,
      ),
      expect.stringMatching(/^ {2}n2\["other<br\/>action#58;#32;noop<br\/>SKIPPED<br\/>/),
      expect.stringMatching(/^ {2}n3\["last<br\/>action#58;#32;noop<br\/>BLOCKED<br\/>/),
      expect.stringMatching(/^ {2}n4\[\["undo<br\/>compensation#58;#32;noop<br\/>BLOCKED<br\/>/),
      expect.stringMatching(
        /^ {2}n0 ==>\|"on_success<br\/>if#32;dec#40;intent#46;amount#41;.*<br\/>priority#32;2"\| n1$/,
      ),
      '  n0 -.->|"on_failure"| n2',
      '  n1 -->|"on_success<br/>join#32;j"| n3',
      '  n0 -->|"on_cancel"| n4',
    ]);
    expect(text).toContain('  class n3,n4,stateBLOCKEDkey stateBLOCKED\n');
    expect(text).toContain('  subgraph legend["Legend"]\n');
  });
});

describe('the graph of a template', () => {
  test('has what its nodes select', async () => {
    const of = await registered([noop('a'), transfer('b')]);
    const graph = await must(
      200,
      get<GraphView>(`/plan-templates/${of.template_id}/graph?format=json`),
    );
    expect(graph).toEqual({
      template_id: of.template_id,
      template_key: of.template_key,
      version: 1,
      graph_shape: 'linear',
      nodes: [
        {
          node_key: 'a',
          node_kind: 'action',
          action_type: 'noop',
          executor_selector: null,
          signer_selector: null,
        },
        {
          node_key: 'b',
          node_kind: 'action',
          action_type: 'evm_erc20_transfer',
          executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
          signer_selector: { chain_family: 'evm', profile: 'test-wallet' },
        },
      ],
      edges: [
        {
          from: 'a',
          to: 'b',
          edge_type: 'on_success',
          priority: 0,
          join_key: null,
          condition_expr: null,
        },
      ],
    });
  });

  test('is drawn without states, and hostile names stay inside their strings', async () => {
    const keys = [
      'a"]-->b',
      'end',
      'click n0 href "javascript:alert(1)"',
      '<script>alert(1)<script>',
      'x end {init: {}}',
      'direction LR',
    ];
    const of = await registered(keys.map((key) => noop(key)));
    const lines = (await diagram(`/plan-templates/${of.template_id}/graph`)).trimEnd().split('\n');
    expect(lines).toHaveLength(1 + keys.length + keys.length - 1);
    for (const line of lines.slice(1)) {
      expect(line).toMatch(
        /^ {2}(n\d\["(?:[A-Za-z0-9_-]|#\d+;|<br\/>)+"\]|n\d -->\|"on_success"\| n\d)$/,
      );
    }
  });
});

describe('asking for a graph', () => {
  test('of nothing is 404', async () => {
    expectRefusal(await get(`/movements/${UNKNOWN_ID}/graph`), 404, 'movement_not_found', {
      movement_id: UNKNOWN_ID,
    });
    expectRefusal(
      await get(`/plan-templates/${UNKNOWN_ID}/graph?format=mermaid`),
      404,
      'template_not_found',
      { template_id: UNKNOWN_ID },
    );
  });

  test('in another form, or with what is not known, is 422', async () => {
    for (const path of [`/movements/${UNKNOWN_ID}/graph`, `/plan-templates/${UNKNOWN_ID}/graph`]) {
      expectInvalid(await get(`${path}?format=dot`), 'format');
      expectInvalid(await get(`${path}?format=`), 'format');
      expectInvalid(await get(`${path}?depth=1`), 'depth');
    }
    expectInvalid(await get('/movements/x/graph'), 'movement_id');
    expectInvalid(await get('/plan-templates/x/graph'), 'template_id');
  });
});
