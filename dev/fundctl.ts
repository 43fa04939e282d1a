/**
 * `npm run fundctl`: the operator's program. Without a service and a key in its settings the
 * program uses the embedded stack of this clone.
 */
import { processIo } from '../clients/command-line/process-io.ts';
import { fundctl } from '../clients/fundctl/program.ts';
import { embeddedClientEnv } from './embedded-client.ts';

const args = process.argv.slice(2);
const embedded = args.some((arg) => arg.startsWith('--profile'))
  ? {}
  : embeddedClientEnv('admin', ['SVC_API_URL', 'SVC_KEY_ID', 'SVC_CLIENT_CONFIG']);
process.exitCode = await fundctl(args, processIo({ ...embedded, ...process.env }));
