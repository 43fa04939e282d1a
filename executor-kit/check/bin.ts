#!/usr/bin/env node
/** The check as a command of the kit's package: `npx executor-check <url or task queue> …`. */
import { runCommand } from './command.ts';

await runCommand('npx executor-check');
