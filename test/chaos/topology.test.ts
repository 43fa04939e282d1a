/** What the fault run over the topology kills. */
import { dice } from './random.ts';
import { TOPOLOGY_WEIGHTS, topologyStrikes } from './topology.ts';

test('each part is struck, and as many kills are planned as wanted', () => {
  for (const seed of [1, 2, 3]) {
    const victims = topologyStrikes(dice(seed, 'strikes'), 20).flatMap((each) => each.victims);
    expect(new Set(victims)).toEqual(new Set(Object.keys(TOPOLOGY_WEIGHTS)));
    expect(victims.length).toBeGreaterThanOrEqual(20);
  }
  const few = topologyStrikes(dice(1, 'strikes'), 1).flatMap((each) => each.victims);
  expect([...few].sort()).toEqual(Object.keys(TOPOLOGY_WEIGHTS).sort());
});
