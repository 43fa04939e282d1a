/**
 * `npm run fundagent`: the agent's program, which finds the embedded stack of this clone by itself
 * where nobody says which service and key are meant.
 */
import { processIo } from '../clients/command-line/process-io.ts';
import { fundagent } from '../clients/fundagent/program.ts';
import { embeddedClientEnv } from './embedded-client.ts';

const env = { ...embeddedClientEnv('agent'), ...process.env };
process.exitCode = await fundagent(process.argv.slice(2), processIo(env));
