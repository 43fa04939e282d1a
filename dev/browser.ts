/** Starts this machine's Chromium without a window. */
import { chromium, type BrowserContext } from 'playwright-core';

export interface BrowserOptions {
  /** Path of the Chromium program. */
  readonly program: string;
  /** Profile folder; its content outlives the browser's processes. */
  readonly profile: string;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** Starts the browser; the caller closes it. */
export function openBrowser({
  program,
  profile,
  viewport,
}: BrowserOptions): Promise<BrowserContext> {
  return chromium.launchPersistentContext(profile, {
    executablePath: program,
    // Chromium's sandbox does not run as root, often the only user of a container.
    chromiumSandbox: process.getuid?.() !== 0,
    headless: true,
    args: ['--disable-gpu'],
    ...(viewport === undefined ? {} : { viewport }),
  });
}
