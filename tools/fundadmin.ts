/** The program `fundadmin`: its command line over this process' environment and streams. */
import { environment } from '../platform/config.ts';
import { fundadmin } from './command-line.ts';

process.exitCode = await fundadmin(process.argv.slice(2), {
  env: environment(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
