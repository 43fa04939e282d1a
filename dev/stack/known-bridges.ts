/** Reads the bridges of a stack from its data folder. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTESTER, type StackBridges } from './bridges.ts';
import type { StackRecord } from './supervise/record.ts';

/**
 * Returns whether the stack of this folder ever had bridges. Such a stack keeps them: movements in
 * progress continue at the next start, and the far chain holds funds.
 */
export function hadBridges(dataDir: string): boolean {
  return existsSync(file(dataDir));
}

/** Returns whether a running stack has bridges. */
export function runsBridges({ children }: StackRecord): boolean {
  return children.some(({ name }) => name === ATTESTER);
}

/** Reads the bridges of a running stack. */
export function readBridges(dataDir: string): StackBridges {
  return JSON.parse(readFileSync(file(dataDir), 'utf8')) as StackBridges;
}

const file = (dataDir: string): string => join(dataDir, 'bridges.json');
