/**
 * `npm run executor:check -- <url or task queue> …`: whether an executor keeps the guarantees the
 * service relies on.
 */
import { runCommand } from './command.ts';

await runCommand('npm run executor:check --');
