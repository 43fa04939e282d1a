/**
 * Pays for good, but remembers only in memory for which keys:
 * `forgetful.ts <port> <statement file>`.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { serveExecutor } from '../../../executor-kit/http.ts';
import { memoryExecutor } from './memory-executor.ts';

const [port = '0', statement = ''] = process.argv.slice(2);

const executor = memoryExecutor((_, { submit }) => {
  const paid = new Set<string>();
  return {
    submit: async (submission, call) => {
      const key = submission.context.idempotency_key;
      if (!paid.has(key)) appendFileSync(statement, `${key}\n`);
      paid.add(key);
      return submit(submission, call);
    },
    effects: async (key) =>
      existsSync(statement)
        ? readFileSync(statement, 'utf8')
            .split('\n')
            .filter((line) => line === key).length
        : 0,
  };
});

await serveExecutor(executor, { port: Number(port) });
