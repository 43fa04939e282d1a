/**
 * The payout desk as a Temporal worker:
 * `node dist/executor-task-queue.js --task-queue payouts --data .data/payouts`, once built.
 * Its registry entry says whom it pays: `"payees": [{ "field": "payee", "family": "cex" }]`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serveExecutor } from '../../executor-kit/http.ts';
import { openJournal } from '../../executor-kit/submit-journal.ts';
import { runExecutorWorker } from '../../executor-kit/task-queue.ts';
import { fail, stopOnSignal } from '../../executor-kit/until-signal.ts';
import { createPayoutExecutor } from './executor.ts';

const { values } = parseArgs({
  options: {
    'task-queue': { type: 'string', default: 'payouts' },
    'temporal-address': {
      type: 'string',
      default: process.env['SVC_TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233',
    },
    namespace: { type: 'string', default: 'default' },
    data: { type: 'string', default: '.data/executor-task-queue' },
    'delay-ms': { type: 'string', default: '300' },
    /**
     * Holds what the service has as SVC_PAYLOAD_KEYS; a file, since arguments can be seen by
     * others.
     */
    'payload-keys-file': { type: 'string' },
    /** Holds what `result_secret_file` of the registry entry holds: signs what the desk answers. */
    'result-secret-file': { type: 'string' },
    /**
     * Also answers over HTTP, so that the check can count effects; the same executor can be served
     * both ways.
     */
    'http-port': { type: 'string' },
  },
});

async function main(): Promise<void> {
  const journal = await openJournal(join(values.data, 'orders.jsonl'));
  const executor = createPayoutExecutor(journal, Number(values['delay-ms']));
  const port = values['http-port'];
  const keysFile = values['payload-keys-file'];
  const secretFile = values['result-secret-file'];
  const served = port === undefined ? null : await serveExecutor(executor, { port: Number(port) });
  const worker = await runExecutorWorker(executor, {
    address: values['temporal-address'],
    namespace: values.namespace,
    taskQueue: values['task-queue'],
    payloadKeys: keysFile === undefined ? undefined : readFileSync(keysFile, 'utf8').trim(),
    resultSecret: secretFile === undefined ? undefined : readFileSync(secretFile, 'utf8'),
  });
  worker.done.catch(fail);
  stopOnSignal(async () => {
    await worker.stop();
    await served?.stop();
    journal.close();
  });
  process.stdout.write(`working on task queue ${values['task-queue']}\n`);
}

main().catch(fail);
