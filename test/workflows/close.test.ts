/** The workflow against a real server, with activities that stand still where the test wants it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowBundle } from '../../activities/bundle.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import type { LoadedMovement, MovementActivities } from '../../domain/messages.ts';
import { SEARCH_ATTRIBUTES } from '../../dev/stack/config.ts';

Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });

const ENDED: LoadedMovement = {
  movement_id: 'm',
  state: 'REJECTED',
  reservation_status: 'none',
  version: 2,
  template_key: 't',
  template_version: 1,
  strategy_id: null,
  asset: 'USDC',
  ended: true,
  error_code: null,
  frontier: [],
  ttl_ms: 0,
  edges: [],
  nodes: [],
};

test('a wake that comes during the last load makes the run load once more before it closes', async () => {
  const found = await findTemporalServer(process.env, () => undefined);
  if (found.kind !== 'binary') throw new Error('the test starts a server of its own');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: found.path },
      extraArgs: SEARCH_ATTRIBUTES.flatMap((attribute) => ['--search-attribute', attribute]),
    },
  });
  try {
    let startedAt = 0;
    let signalled: number | null = null;
    const load: MovementActivities['load'] = async () => {
      startedAt = performance.now();
      if (signalled === null) {
        // The command is written after this load has read, and its wake arrives while the load is
        // under way.
        await environment.client.workflow.getHandle('movement/m').signal('wake', null);
        signalled = performance.now();
        // Longer than a workflow task: the server hands the signal over while the load still goes
        // on. Without that it would refuse the close by itself.
        await sleep(4_000);
      }
      return ENDED;
    };
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      taskQueue: 'close',
      workflowBundle: workflowBundle(),
      activities: { load },
    });
    const outcome = await worker.runUntil(
      environment.client.workflow.execute('movementWorkflow', {
        workflowId: 'movement/m',
        taskQueue: 'close',
        args: ['m'],
        workflowTaskTimeout: '3 seconds',
      }),
    );
    expect(outcome).toEqual({ movement_id: 'm', request_state: 'REJECTED' });
    // Whatever a slow machine repeats: what the run closed on was read after the wake.
    expect(startedAt).toBeGreaterThan(signalled ?? Infinity);
  } finally {
    await environment.teardown();
  }
});
