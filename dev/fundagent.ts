/**
 * `npm run fundagent`: the agent's program. Without a service and a key in its settings the program
 * uses the embedded stack of this clone.
 */
import { processIo } from '../clients/command-line/process-io.ts';
import { fundagent } from '../clients/fundagent/program.ts';
import { embeddedClientEnv } from './embedded-client.ts';

const env = { ...embeddedClientEnv('agent'), ...process.env };
process.exitCode = await fundagent(process.argv.slice(2), processIo(env));
