/** Entry point of the program `fundctl`: runs it with this process's environment and streams. */
import { processIo } from '../command-line/process-io.ts';
import { fundctl } from './program.ts';

process.exitCode = await fundctl(process.argv.slice(2), processIo());
