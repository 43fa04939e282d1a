/**
 * Lets the Temporal SDK download its development server into the folder of the argument. The SDK
 * downloads only when it starts the server, so one is started and stopped again. Run as a process
 * of its own: a download that hangs can only be ended from outside.
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
