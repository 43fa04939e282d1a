/**
 * `npm run executor:check -- <url or task queue> …`: checks whether an executor keeps the
 * guarantees that the service relies on.
 */
import { runCommand } from './command.ts';

await runCommand('npm run executor:check --');
