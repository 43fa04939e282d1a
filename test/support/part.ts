/** A part of a stack for a test alone. */
import { rmSync } from 'node:fs';
import { ManagedChild, type ChildSpec } from '../../dev/stack/supervise/child.ts';

/** Starts it until this process ends at the latest; returns what ends it and removes its folder. */
export async function startPart(part: ChildSpec, folder: string): Promise<() => Promise<void>> {
  const child = new ManagedChild(part);
  const atExit = (): void => child.killNow();
  process.once('exit', atExit);
  const close = async (): Promise<void> => {
    await child.stop();
    process.off('exit', atExit);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await child.start();
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}
