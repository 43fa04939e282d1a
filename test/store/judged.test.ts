import { compile } from '../../domain/conditions/compile.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import { nonExecutableReasons } from '../../domain/executable.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { Database } from '../../prisma/client.ts';
import { judged } from '../../store/judged.ts';

const node = (node_key: string): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type: 'noop',
  has_side_effect: false,
});
const edge = (from: string, to: string, condition_expr: string): GraphEdge => ({
  from,
  to,
  edge_type: 'on_success',
  priority: 0,
  join_key: null,
  condition_expr,
});
const LONG = Array.from(
  { length: 14 },
  (_, term) => `dec(intent.amount) > dec("1${String(term)}.5")`,
).join(' || ');
/** As many conditions as a version may have, no two alike; one of them cannot be used. */
const large = () => ({
  nodes: [node('a'), node('b'), node('c')],
  edges: [
    ...Array.from({ length: 999 }, (_, index) =>
      edge('a', 'b', `${LONG} || intent.asset == "${String(index)}"`),
    ),
    edge('b', 'c', 'intent.amount > "9"'),
  ],
});
const db = (): Database => ({}) as Database;

test('a version is judged once by a process, whoever asks, and each version by itself', async () => {
  const one = db();
  const reasons = judged(one, 'version', large());
  expect(judged(one, 'version', { nodes: [], edges: [] })).toBe(reasons);
  expect(await reasons).toEqual(['condition_invalid:b->c']);
  expect(await reasons).toEqual(nonExecutableReasons(large()));
  expect(await judged(one, 'another', { nodes: [node('a')], edges: [] })).toEqual([]);
  expect(await judged(db(), 'version', { nodes: [node('a')], edges: [] })).toEqual([]);
});

test('others have their turn while a large version is judged', async () => {
  let turns = 0;
  let over = false;
  const turn = (): void => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  await judged(db(), 'version', large());
  over = true;
  // A thousand compilations take tens of milliseconds on any machine, and a slice is five.
  expect(turns).toBeGreaterThan(3);
});

test('what is evaluated stays compiled while a large version is judged', async () => {
  const program = compile('intent.asset == "used"');
  await judged(db(), 'version', large());
  expect(compile('intent.asset == "used"')).toBe(program);
});
