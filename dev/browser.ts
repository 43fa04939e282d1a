/** A Chromium of this machine, without a window. */
import { chromium, type BrowserContext } from 'playwright-core';

export interface BrowserOptions {
  /** The program. */
  readonly program: string;
  /** A folder for what it keeps; what is kept there outlives its processes. */
  readonly profile: string;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** Starts it; the caller closes it. */
export function openBrowser({
  program,
  profile,
  viewport,
}: BrowserOptions): Promise<BrowserContext> {
  return chromium.launchPersistentContext(profile, {
    executablePath: program,
    // The sandbox needs a user that is not root; in a container there is often no other.
    chromiumSandbox: process.getuid?.() !== 0,
    headless: true,
    args: ['--disable-gpu'],
    ...(viewport === undefined ? {} : { viewport }),
  });
}
