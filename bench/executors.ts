/** Executors that do nothing, so that what is measured is the service and not what it calls. */
import { LEAST_ASSURANCES, type Executor } from '../domain/executor.ts';
import { createExecutorRegistry, type ExecutorRegistry } from '../executors/registry.ts';
import type { RemoteExecutorSettings } from '../executors/remote.ts';

/** What the templates select by. */
export const ACTIONS = {
  instant: 'bench_instant',
  slow: 'bench_slow',
  remote: 'bench_remote',
  unhurried: 'bench_unhurried',
  team: 'bench_team',
} as const;

/** Where the team's worker polls. */
export const TEAM_QUEUE = 'bench team';

/** How long `bench.slow` takes to submit: about what a quick venue needs for an answer. */
export const SLOW_SUBMIT_MS = 20;

/** How long each answer of `bench.unhurried` takes, which is behind HTTP under this path. */
export const UNHURRIED_MS = 500;
export const UNHURRIED_PATH = '/unhurried';

/** Submitted first and completed by an observe, so that all four phases of a node run. */
function idleExecutor(key: string, action: string, submitMs: number): Executor {
  return {
    descriptor: {
      executor_key: key,
      kind: 'local',
      action_types: [action],
      same_key_safe: true,
      settle_seconds: 0,
      timeout_seconds: 30,
      in_process: true,
      sends: true,
      payees: [],
      not_payees: [],
      completion_assurances: LEAST_ASSURANCES,
    },
    preflight: async () => null,
    prepare: async () => ({ next_state: 'SUBMITTING', prepared_action: {} }),
    submit: async () => {
      if (submitMs > 0) await new Promise((resolve) => setTimeout(resolve, submitMs));
      return { next_state: 'SUBMITTED', external_ref: 'bench' };
    },
    observe: async () => ({ next_state: 'COMPLETED', output: {} }),
    recover: async () => ({ next_state: 'READY' }),
    cancel: async () => ({ next_state: 'OBSERVING' }),
    health: async () => ({ state: 'up' }),
  };
}

/** The in-process instant executor, for measurements without other processes. */
export function instantExecutor(): Executor {
  return idleExecutor('bench.instant', ACTIONS.instant, 0);
}

function remoteExecutor(key: string, action: string, url: string): RemoteExecutorSettings {
  return {
    executor_key: key,
    kind: 'remote',
    url,
    timeout_seconds: 30,
    same_key_safe: true,
    settle_seconds: 0,
    action_types: [action],
    sends: true,
    payees: [],
    not_payees: [],
    completion_assurances: LEAST_ASSURANCES,
  };
}

/** Instant and slow in process, the two behind HTTP at `remoteUrl`, and the team's. */
export function benchExecutors(remoteUrl: string): ExecutorRegistry {
  return createExecutorRegistry({
    locals: [instantExecutor(), idleExecutor('bench.slow', ACTIONS.slow, SLOW_SUBMIT_MS)],
    remotes: [
      remoteExecutor('bench.remote', ACTIONS.remote, remoteUrl),
      remoteExecutor('bench.unhurried', ACTIONS.unhurried, `${remoteUrl}${UNHURRIED_PATH}`),
      {
        executor_key: 'bench.team',
        kind: 'task_queue',
        task_queue: TEAM_QUEUE,
        timeout_seconds: 30,
        same_key_safe: true,
        settle_seconds: 0,
        action_types: [ACTIONS.team],
        sends: true,
        payees: [],
        not_payees: [],
        completion_assurances: LEAST_ASSURANCES,
      },
    ],
  });
}
