import { createNoopExecutor } from '../../executors/local/noop.ts';
import { createExecutorRegistry } from '../../executors/registry.ts';
import { contextOf, settingsOf } from './fake-server.ts';

const call = { signal: new AbortController().signal };
const journal = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};

test('local and remote executors stand in one list and are found by key', async () => {
  const registry = createExecutorRegistry({
    locals: [createNoopExecutor()],
    remotes: [settingsOf('http://a.example')],
  });
  expect(registry.list().map(({ executor_key, kind }) => `${executor_key} ${kind}`)).toEqual([
    'builtin.noop local',
    'team.withdrawals remote',
  ]);
  expect(registry.get('team.withdrawals')?.descriptor.endpoint).toBe('http://a.example');
  expect(registry.get('unknown')).toBeUndefined();
  // Bindings are kept for the very same list.
  expect(registry.list()).toBe(registry.list());
  expect(Object.isFrozen(registry.list())).toBe(true);
  await registry.close();
});

test('a task-queue executor is listed and described, and cannot be called from here', async () => {
  const { url: _url, ...shared } = settingsOf('');
  const queue = {
    ...shared,
    executor_key: 'team.queue',
    kind: 'task_queue' as const,
    task_queue: 'payouts',
    settle_seconds: 5,
  };
  const registry = createExecutorRegistry({ locals: [createNoopExecutor()], remotes: [queue] });
  expect(registry.list().map(({ executor_key }) => executor_key)).toEqual([
    'builtin.noop',
    'team.queue',
  ]);
  expect(registry.describe('team.queue')).toEqual({
    ...queue,
    endpoint: 'task-queue:payouts',
    in_process: false,
  });
  expect(registry.get('team.queue')).toBeUndefined();
  expect(registry.describe('builtin.noop')?.kind).toBe('local');
  expect(registry.describe('unknown')).toBeUndefined();
  await registry.close();
});

test('a task queue may not take the key of another executor', () => {
  const { url: _url, ...shared } = settingsOf('');
  const queue = {
    ...shared,
    executor_key: 'builtin.noop',
    kind: 'task_queue' as const,
    task_queue: 'q',
  };
  expect(() =>
    createExecutorRegistry({ locals: [createNoopExecutor()], remotes: [queue] }),
  ).toThrow('registered twice');
});

test('a key that is used twice is an error', () => {
  const remotes = [settingsOf('http://a.example', { executor_key: 'builtin.noop' })];
  expect(() => createExecutorRegistry({ locals: [createNoopExecutor()], remotes })).toThrow(
    'executor_key "builtin.noop" is registered twice',
  );
});

test('the no-op executor passes every phase and completes at once', async () => {
  const noop = createNoopExecutor();
  const context = contextOf({ action_type: 'noop' });
  expect(await noop.preflight(context, call)).toBeNull();
  expect(await noop.prepare(context, call)).toEqual({
    next_state: 'SUBMITTING',
    prepared_action: {},
  });
  expect(await noop.submit({ context, prepared_action: {}, journal }, call)).toMatchObject({
    next_state: 'COMPLETED',
  });
  expect(await noop.recover(context, call, journal)).toMatchObject({ next_state: 'COMPLETED' });
  expect(await noop.health(call)).toEqual({ state: 'up' });
  expect(noop.descriptor.action_types).toEqual(['noop', 'manual_gate']);
});
