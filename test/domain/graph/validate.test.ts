import { validateGraph } from '../../../domain/graph/validate.ts';
import { edge, node } from './build.ts';

const problems = (nodes: string[], edges: string[]) =>
  validateGraph({ nodes: nodes.map((each) => node(each)), edges: edges.map((each) => edge(each)) });

describe('validateGraph', () => {
  it.each([
    ['one node', ['a'], []],
    ['a chain', ['a', 'b', 'c'], ['a>b', 'b>c']],
    ['a diamond', ['a', 'b', 'c', 'd'], ['a>b', 'a>c', 'b>d', 'c>d']],
    ['two roots that meet', ['a', 'b', 'c'], ['a>c', 'b>c']],
    ['two edges of different type between the same nodes', ['a', 'b'], ['a>b', 'a>b:on_failure']],
  ])('accepts %s', (_name, nodes, edges) => {
    expect(problems(nodes, edges)).toEqual([]);
  });

  it('refuses a graph without nodes', () => {
    expect(problems([], [])).toEqual([{ problem: 'empty_graph' }]);
  });

  it('names a node key that is used twice', () => {
    expect(problems(['a', 'b', 'a'], ['a>b'])).toEqual([
      { problem: 'duplicate_node_key', node_key: 'a' },
    ]);
  });

  it('names both unknown ends of an edge', () => {
    expect(problems(['a'], ['x>y'])).toEqual([
      { problem: 'unknown_endpoint', node_key: 'x', edge: 'x->y' },
      { problem: 'unknown_endpoint', node_key: 'y', edge: 'x->y' },
    ]);
  });

  it('names a self loop', () => {
    expect(problems(['a', 'b'], ['a>b', 'b>b'])).toEqual([
      { problem: 'self_loop', node_key: 'b', edge: 'b->b' },
    ]);
  });

  it('names an edge that stands twice, and tells conditions apart', () => {
    expect(problems(['a', 'b'], ['a>b', 'a>b'])).toEqual([
      { problem: 'duplicate_edge', edge: 'a->b' },
    ]);
    const edges = [edge('a>b', { condition_expr: 'x' }), edge('a>b', { condition_expr: 'y' })];
    expect(validateGraph({ nodes: [node('a'), node('b')], edges })).toEqual([]);
  });

  it('names the nodes of a cycle once, in order', () => {
    expect(problems(['r', 'a', 'b', 'c'], ['r>a', 'a>b', 'b>c', 'c>a', 'c>a:on_failure'])).toEqual([
      { problem: 'cycle', node_keys: ['a', 'b', 'c'] },
    ]);
  });

  it('names every node that is not connected', () => {
    expect(problems(['a', 'b', 'c', 'd'], ['a>b', 'c>d'])).toEqual([
      { problem: 'disconnected', node_key: 'c' },
      { problem: 'disconnected', node_key: 'd' },
    ]);
  });

  it('tells that nothing can start', () => {
    expect(problems(['a', 'b'], ['a>b', 'b>a'])).toEqual([
      { problem: 'cycle', node_keys: ['a', 'b'] },
      { problem: 'no_root' },
    ]);
  });

  it('reports all problems at once', () => {
    const found = problems(['a', 'a', 'b', 'c'], ['a>b', 'a>b', 'b>x', 'b>b']).map(
      (each) => each.problem,
    );
    expect(found).toEqual([
      'duplicate_node_key',
      'duplicate_edge',
      'unknown_endpoint',
      'self_loop',
      'disconnected',
    ]);
  });
});
