/**
 * The worker of the hand-written workflow: same options, same kind of pool, a process and a task
 * queue of its own.
 */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { withoutCallStacks } from '../../activities/bundle.ts';
import { installSdk } from '../../activities/sdk.ts';
import { workerTuning } from '../../activities/worker.ts';
import { compileToEs2022 } from '../../dev/bootstrap/build.mjs';
import { createLogger } from '../../platform/log.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { writeStep } from '../baseline/jobs.ts';
import { BASELINE_QUEUE, type BaselineActivities } from '../baseline/messages.ts';
import { NAMESPACE, POOL_SIZE, runPart } from './part.ts';

runPart(async ({ databaseUrl, temporalAddress }) => {
  installSdk(createLogger({ logLevel: 'warn' }, 'bench-baseline'));
  const db = connectDatabase({ url: databaseUrl, poolSize: POOL_SIZE });
  const activities: BaselineActivities = {
    step: ({ job_id, step }) => writeStep(db, job_id, step),
  };
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../baseline/workflow.ts', import.meta.url)),
    webpackConfigHook: compileToEs2022,
    logger: new DefaultLogger('WARN'),
  });
  // The comparison is of what is run, not of how a worker is set up or its workflows are bundled.
  const worker = await Worker.create({
    connection,
    namespace: NAMESPACE,
    taskQueue: BASELINE_QUEUE,
    activities: { ...activities },
    workflowBundle: { code: withoutCallStacks(code) },
    ...workerTuning(),
  });
  const done = worker.run();
  return async () => {
    worker.shutdown();
    await done;
    await Promise.all([connection.close(), db.$disconnect()]);
  };
});
