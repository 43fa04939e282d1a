import { ancestorsOf } from '../../../domain/graph/paths.ts';
import { graphShape, rootNodes } from '../../../domain/graph/shape.ts';
import { edge, node } from './build.ts';

const graph = (nodes: string, edges: string[]) => ({
  nodes: nodes.split(' ').map((each) => node(each)),
  edges: edges.map((each) => edge(each)),
});

describe('graphShape', () => {
  it.each([
    ['linear', 'a', []],
    ['linear', 'a b c', ['a>b', 'b>c:on_failure']],
    ['branching', 'a b c', ['a>b', 'a>c:on_failure']],
    ['split', 'a b c', ['a>b', 'a>c']],
    ['merging', 'a b c', ['a>c', 'b>c']],
    ['hybrid', 'a b c d', ['a>b', 'a>c', 'b>d', 'c>d']],
    ['hybrid', 'a b c d', ['a>b', 'a>c', 'a>d:on_failure']],
    ['hybrid', 'a b', ['a>b', 'a>b:on_failure']],
  ])('is %s for %s %j', (shape, nodes, edges) => {
    expect(graphShape(graph(nodes, edges))).toBe(shape);
  });

  it('branches where conditions or priorities choose one success edge', () => {
    const nodes = ['a', 'b', 'c'].map((each) => node(each));
    const byCondition = [
      edge('a>b', { condition_expr: 'x' }),
      edge('a>c', { condition_expr: 'y' }),
    ];
    const byPriority = [edge('a>b', { priority: 1 }), edge('a>c')];
    expect(graphShape({ nodes, edges: byCondition })).toBe('branching');
    expect(graphShape({ nodes, edges: byPriority })).toBe('branching');
  });
});

describe('rootNodes and ancestorsOf', () => {
  it('begins where no edge of any type leads', () => {
    expect(rootNodes(graph('a b c d', ['a>c', 'b>c', 'c>d:on_cancel']))).toEqual(['a', 'b']);
  });

  it('finds all that lie before a node, and not itself', () => {
    const found = ancestorsOf(graph('a b c d e', ['a>b', 'b>d', 'c>d', 'd>e']), 'd');
    expect([...found].sort()).toEqual(['a', 'b', 'c']);
  });
});
