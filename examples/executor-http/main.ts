/**
 * The bank executor as an HTTP service: `node dist/executor-http.js --port 8300 --data .data/bank`,
 * once built. Its registry entry says whom it pays:
 * `"payees": [{ "field": "to", "family": "cex" }]`.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serveExecutor } from '../../executor-kit/http.ts';
import { openJournal } from '../../executor-kit/submit-journal.ts';
import { fail, stopOnSignal } from '../../executor-kit/until-signal.ts';
import { openBank } from './bank.ts';
import { createBankExecutor } from './executor.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8300' },
    data: { type: 'string', default: '.data/executor-http' },
    'clearing-ms': { type: 'string', default: '100' },
    'token-file': { type: 'string' },
  },
});

async function main(): Promise<void> {
  const journal = await openJournal(join(values.data, 'journal.jsonl'));
  const bank = openBank(join(values.data, 'statement.jsonl'), Number(values['clearing-ms']));
  const token = values['token-file'];
  const served = await serveExecutor(createBankExecutor(bank, journal), {
    port: Number(values.port),
    ...(token === undefined ? {} : { authTokenFile: token }),
  });
  stopOnSignal(async () => {
    await served.stop();
    bank.close();
    journal.close();
  });
  process.stdout.write(`listening on ${served.url}\n`);
}

main().catch(fail);
