/**
 * Lets the Temporal SDK download its development server into the folder given: the SDK offers this
 * only together with starting the server, so one is started and stopped again. Run as a process of
 * its own, because a download that hangs can only be given up from outside.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir] = process.argv.slice(2);
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: {
        type: 'cached-download',
        ...(downloadDir === undefined ? {} : { downloadDir }),
      },
    },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
