/** How a route's health follows from its executors. */
import type { ExecutorDescriptor } from '../../../domain/executor.ts';
import {
  canAllWork,
  healthOver,
  withReasons,
  type StoredHealth,
} from '../../../domain/fund-routes/health.ts';

const STATES = ['up', 'down', 'unknown', 'unstored', 'disabled'] as const;

const executor = (
  key: string,
  action: string,
  more: Partial<ExecutorDescriptor> = {},
): ExecutorDescriptor => ({
  executor_key: key,
  kind: 'local',
  action_types: [action],
  same_key_safe: false,
  settle_seconds: 0,
  timeout_seconds: 1,
  in_process: false,
  sends: true,
  not_payees: [],
  completion_assurances: ['provider_completed'],
  ...more,
});
const registered = [
  ...STATES.map((state) => executor(`x.${state}`, state)),
  executor('x.twin-a', 'twin', { provider: 'a' }),
  executor('x.twin-b', 'twin', { provider: 'b' }),
];
const stored: readonly StoredHealth[] = [
  { executor_key: 'x.up', status: 'active', health_state: 'up' },
  { executor_key: 'x.down', status: 'active', health_state: 'down' },
  { executor_key: 'x.unknown', status: 'active', health_state: 'unknown' },
  { executor_key: 'x.disabled', status: 'disabled', health_state: 'up' },
  { executor_key: 'x.twin-a', status: 'active', health_state: 'up' },
  // No longer registered, so no node can be bound to it.
  { executor_key: 'x.gone', status: 'active', health_state: 'up' },
];
const healthOf = healthOver(registered, stored);
const of = (...actions: string[]) => healthOf(actions.map((action_type) => ({ action_type })));

test.each([
  ['healthy', ['up']],
  ['healthy', ['up', 'up']],
  ['degraded', ['unknown']],
  ['degraded', ['unstored']],
  ['degraded', ['up', 'unknown']],
  ['degraded', ['up', 'down']],
  ['degraded', ['up', 'gone']],
  ['degraded', ['down', 'unknown']],
  ['unavailable', ['down']],
  ['unavailable', ['disabled']],
  ['unavailable', ['gone']],
  ['unavailable', ['twin']],
  ['unavailable', ['down', 'gone', 'twin', 'disabled']],
])('%s with %j', (status, actions) => {
  expect(of(...actions).status).toBe(status);
});

test.each([
  [true, []],
  [true, ['up']],
  [true, ['up', 'unknown']],
  [true, ['unstored']],
  [false, ['up', 'down']],
  [false, ['up', 'disabled']],
  [false, ['up', 'gone']],
  [false, ['up', 'twin']],
])('%s that all of %j can work', (answer, actions) => {
  expect(canAllWork(of(...actions))).toBe(answer);
});

test('an executor that cannot work on this route is down there, and says why', () => {
  const reasons = new Map(
    ['x.up', 'x.down', 'gone', 'x.other'].map((key) => [key, `${key} cannot`]),
  );
  const found = withReasons(of('up', 'unknown', 'down', 'gone'), reasons);
  expect(found).toEqual({
    status: 'degraded',
    executors: [
      { executor_key: 'x.up', health_state: 'down', reason: 'x.up cannot' },
      { executor_key: 'x.unknown', health_state: 'unknown' },
      { executor_key: 'x.down', health_state: 'down', reason: 'x.down cannot' },
      { executor_key: 'gone', health_state: 'missing' },
    ],
  });
  expect(canAllWork(found)).toBe(false);
  expect(withReasons(of('up'), reasons).status).toBe('unavailable');
  expect(withReasons(of('up'), new Map())).toEqual(of('up'));
});

describe('executors', () => {
  test('each once, in the order of the nodes, with its state', () => {
    expect(of('up', 'unstored', 'disabled', 'up').executors).toEqual([
      { executor_key: 'x.up', health_state: 'up' },
      { executor_key: 'x.unstored', health_state: 'unknown' },
      { executor_key: 'x.disabled', health_state: 'down' },
    ]);
  });

  test('what is selected by, where there is no one executor', () => {
    const selectors = [
      { action_type: 'twin' },
      { action_type: 'twin', provider: 'a' },
      { action_type: 'gone', provider: 'a', chain_family: 'evm' },
    ];
    expect(healthOf(selectors).executors).toEqual([
      { executor_key: 'twin', health_state: 'ambiguous' },
      { executor_key: 'x.twin-a', health_state: 'up' },
      { executor_key: 'gone[provider=a,chain_family=evm]', health_state: 'missing' },
    ]);
  });
});
