import { withConditions } from '../../../domain/conditions/apply.ts';
import { edge } from '../graph/build.ts';

it('puts stored results on the edges that have a condition', () => {
  const edges = [
    edge('a>b'),
    ...['x', 'y', 'z', 'w'].map((condition_expr) => edge('a>c', { condition_expr })),
  ];
  const found = withConditions(edges, { '0': 'true', '1': 'true', '2': 'false', '3': 'error' });
  expect(found.map((each) => each.condition)).toEqual([null, true, false, 'error', null]);
  expect(found[1]).toMatchObject({
    from: 'a',
    to: 'c',
    edge_type: 'on_success',
    condition_expr: 'x',
  });
});
