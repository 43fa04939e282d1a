/** Entry point of the program `fundagent`. */
import { processIo } from '../command-line/process-io.ts';
import { fundagent } from './program.ts';

process.exitCode = await fundagent(process.argv.slice(2), processIo());
