/**
 * `node dist/callback-receiver.js --secret-file <path> [--port 8300]`, once built, prints each
 * event as it comes.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createReceiver } from './receiver.ts';

const { values } = parseArgs({
  options: { 'secret-file': { type: 'string' }, port: { type: 'string', default: '8300' } },
});
const file = values['secret-file'];
if (file === undefined) throw new Error('name a file that holds the secret: --secret-file <path>');

const receiver = createReceiver(readFileSync(file, 'utf8').trimEnd());
let shown = 0;
receiver.server.on('request', (_request, response) => {
  response.on('finish', () => {
    for (const event of receiver.arrived.slice(shown))
      process.stdout.write(`${JSON.stringify(event)}\n`);
    shown = receiver.arrived.length;
  });
});
receiver.server.listen(Number(values.port), '127.0.0.1', () =>
  process.stderr.write(`listening on 127.0.0.1:${values.port}\n`),
);
