/**
 * Makes the Temporal SDK download its development server into the folder of the argument. The SDK
 * downloads only when it starts the server, so a server is started and stopped again. Runs as a
 * separate process, because a hanging download can be ended only from outside.
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
