/** What the completion of a node leads to, as an argument of its activity. */
import { followsCompletion } from '../../domain/decision.ts';
import type { LoadedMovement, LoadedNode } from '../../domain/messages.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { courseOf } from '../../workflows/course.ts';

const node = (node_key: string, state: NodeState, more: Partial<LoadedNode> = {}): LoadedNode => ({
  node_key,
  state,
  node_kind: 'action',
  attempt: 1,
  resumed: false,
  recover_first: false,
  error_code: null,
  settled_order: 0,
  executor_key: 'module',
  chained: true,
  carried: true,
  ...more,
});

const edge = (from: string, to: string, condition_expr: string | null = null) => ({
  from,
  to,
  edge_type: 'on_success' as const,
  priority: 0,
  join_key: null,
  condition_expr,
});

function view(
  nodes: readonly LoadedNode[],
  edges: LoadedMovement['edges'],
  more: Partial<LoadedMovement> = {},
): LoadedMovement {
  return {
    movement_id: 'm',
    state: 'EXECUTING',
    reservation_status: 'none',
    version: 3,
    template_key: 't',
    template_version: 1,
    strategy_id: null,
    asset: 'USDC',
    ended: false,
    error_code: null,
    ttl_ms: 0,
    conduct: 4,
    frontier: nodes.filter(({ state }) => state !== 'BLOCKED').map(({ node_key }) => node_key),
    nodes,
    edges,
    ...more,
  };
}

const keysOf = ({ onward = [] }: ReturnType<typeof courseOf>): string[] =>
  onward.map(({ node_key }) => node_key);

const CHAIN = [edge('a', 'b'), edge('b', 'c')];
const first = node('a', 'READY');
const chain = (b: Partial<LoadedNode> = {}, more: Partial<LoadedMovement> = {}): LoadedMovement =>
  view([first, node('b', 'BLOCKED', b), node('c', 'BLOCKED')], CHAIN, more);

test('a lone chain: every decision of it, each upon the version that the one before leaves', () => {
  const course = courseOf(chain(), first, true);
  expect(course.then).toMatchObject({ version: 3, ready: [{ node_key: 'b', attempt: 1 }] });
  expect(keysOf(course)).toEqual(['b', 'c']);
  const [second, third] = course.onward ?? [];
  expect(second?.then).toMatchObject({ version: 4, ready: [{ node_key: 'c', attempt: 1 }] });
  expect(third?.then).toMatchObject({ version: 5, ready: [], to: 'COMPLETED', ended: true });
});

test.each([
  ['an executor that does not answer at once', chain({ carried: undefined as never })],
  ['an executor of a team', chain({ carried: undefined as never, task_queue: 'team' })],
  ['a node of a venue with a queue', chain({ carried: undefined as never, venue_queue: 'q' })],
  ['a node that only looks', chain({ node_kind: 'observe' })],
  ['a gate', chain({ node_kind: 'manual_gate' })],
  ['a node that recovery has to look at first', chain({ recover_first: true })],
])('a chain ends before %s', (_what, movement) => {
  const course = courseOf(movement, first, true);
  expect(course.decides).toBe(true);
  expect(keysOf(course)).toEqual([]);
});

test('the activity of a node on the queue of its venue goes on with no other node', () => {
  const queued = node('a', 'READY', { carried: undefined as never, venue_queue: 'q' });
  const course = courseOf(view([queued, ...chain().nodes.slice(1)], CHAIN), queued, true);
  expect(course).toMatchObject({ decides: true, then: { ready: [{ node_key: 'b' }] } });
  expect(keysOf(course)).toEqual([]);
});

test('of what a condition decides, of a failure that ends it and of a person the run decides', () => {
  const conditional = view(chain().nodes, [edge('a', 'b', 'outcome == "ok"'), edge('b', 'c')]);
  expect(courseOf(conditional, first, true).then).toBeUndefined();
  const waiting = chain({}, { state: 'WAITING_MANUAL_ACTION' });
  expect(courseOf(waiting, first, true)).toEqual({ decides: true });
  const failed = view([first, node('x', 'FAILED')], []);
  expect(courseOf(failed, first, true).then).toBeUndefined();
});

test('beside a node whose outcome is unknown nothing is decided, whatever the state says', () => {
  const unknown = view([first, node('x', 'UNKNOWN'), node('b', 'BLOCKED')], [edge('a', 'b')]);
  expect(followsCompletion(unknown, first)).toBeUndefined();
});

test('a later phase of a node goes on to nothing', () => {
  expect(keysOf(courseOf(chain(), first, false))).toEqual([]);
});

test('a node beside others gets no decision beforehand, and with very many the run decides', () => {
  const lanes = (count: number): LoadedMovement =>
    view(
      [first, ...Array.from({ length: count }, (_, at) => node(`l${String(at)}`, 'SUBMITTED'))],
      [],
    );
  expect(courseOf(lanes(3), first, true)).toEqual({ decides: true });
  expect(courseOf(lanes(4), first, true)).toEqual({});
});

test('runs of earlier conducts get none of it', () => {
  expect(courseOf(chain({}, { conduct: 3 }), first, true)).toEqual({});
});

test('an activity goes on to seven nodes at most', () => {
  const keys = Array.from({ length: 20 }, (_, at) => `n${String(at)}`);
  const long = view(
    keys.map((key, at) => node(key, at === 0 ? 'READY' : 'BLOCKED')),
    keys.slice(1).map((key, at) => edge(keys[at] ?? '', key)),
  );
  expect(keysOf(courseOf(long, node('n0', 'READY'), true))).toEqual(keys.slice(1, 8));
});
