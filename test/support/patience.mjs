/**
 * How long a test waits for what it expects, unless it says otherwise. No claim on speed: a call
 * that hangs once on a loaded machine is aborted and repeated within it. Shorter while rules are
 * taken out, where waiting in vain is what is expected.
 */
export const PATIENCE_MS = process.env.RULES_PROOF === 'true' ? 20_000 : 60_000;
