/** What a data folder says of the bridges of its stack. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTESTER, type StackBridges } from './bridges.ts';
import type { StackRecord } from './supervise/record.ts';

/**
 * Whether the stack of this folder has ever had bridges. It has them from then on: what is under
 * way goes on at the next start, and the far chain holds funds.
 */
export function hadBridges(dataDir: string): boolean {
  return existsSync(file(dataDir));
}

/** Whether a stack that runs has them. */
export function runsBridges({ children }: StackRecord): boolean {
  return children.some(({ name }) => name === ATTESTER);
}

/** Where those of a stack that runs are. */
export function readBridges(dataDir: string): StackBridges {
  return JSON.parse(readFileSync(file(dataDir), 'utf8')) as StackBridges;
}

const file = (dataDir: string): string => join(dataDir, 'bridges.json');
