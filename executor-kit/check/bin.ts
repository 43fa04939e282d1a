#!/usr/bin/env node
/** The check as the package of the kit brings it: `npx executor-check <url or task queue> …`. */
import { runCommand } from './command.ts';

await runCommand('npx executor-check');
