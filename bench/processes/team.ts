/** A team's own worker on its own task queue, made with the kit; its executor answers at once. */
import { z } from 'zod';
import {
  accepted,
  completed,
  defineExecutor,
  notLanded,
  passed,
  prepared,
} from '../../executor-kit/define.ts';
import { runExecutorWorker } from '../../executor-kit/task-queue.ts';
import { TEAM_QUEUE } from '../executors.ts';
import { NAMESPACE, runPart } from './part.ts';

const executor = defineExecutor({
  name: 'bench.team',
  prepared: z.object({}),
  preflight: async () => passed(),
  prepare: async () => prepared({}),
  submit: async () => accepted('bench'),
  observe: async () => completed({ output: {} }),
  recover: async () => notLanded(),
  cancel: async () => accepted('bench'),
});

runPart(async ({ temporalAddress }) => {
  const worker = await runExecutorWorker(executor, {
    address: temporalAddress,
    namespace: NAMESPACE,
    taskQueue: TEAM_QUEUE,
  });
  return () => worker.stop();
});
