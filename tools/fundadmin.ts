/** The program `fundadmin`: runs the command line in this process's environment. */
import { environment } from '../platform/config.ts';
import { fundadmin } from './command-line.ts';

process.exitCode = await fundadmin(process.argv.slice(2), {
  env: environment(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
