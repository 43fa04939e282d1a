/** Colours text by its meaning (good, bad, waiting, busy); only when a terminal shows the text. */
import picocolors from 'picocolors';

export const TONES = ['good', 'bad', 'waiting', 'busy', 'dim', 'strong'] as const;
export type Tone = (typeof TONES)[number];
export type Paint = (tone: Tone | undefined, text: string) => string;

/** Returns a function that colours text when `enabled`, and else returns the text unchanged. */
export function painter(enabled: boolean): Paint {
  const colours = picocolors.createColors(enabled);
  const by: Readonly<Record<Tone, (text: string) => string>> = {
    good: colours.green,
    bad: colours.red,
    waiting: colours.yellow,
    busy: colours.cyan,
    dim: colours.dim,
    strong: colours.bold,
  };
  return (tone, text) => (tone === undefined ? text : by[tone](text));
}

/** Returns true for a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`. */
export function wantsColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

const STATES: Readonly<Record<string, Tone>> = {
  COMPLETED: 'good',
  FAILED: 'bad',
  UNKNOWN: 'bad',
  MANUAL_INTERVENTION: 'bad',
  PENDING_APPROVAL: 'waiting',
  WAITING_MANUAL_ACTION: 'waiting',
  APPROVED: 'busy',
  EXECUTING: 'busy',
  READY: 'busy',
  SUBMITTING: 'busy',
  SUBMITTED: 'busy',
  OBSERVING: 'busy',
  PENDING_PROVIDER_CONFIRMATION: 'busy',
  CREATED: 'busy',
  BLOCKED: 'dim',
  SKIPPED: 'dim',
  CANCELLED: 'dim',
  REJECTED: 'dim',
  EXPIRED: 'dim',
  active: 'good',
  up: 'good',
  match: 'good',
  delivered: 'good',
  success: 'good',
  healthy: 'good',
  disabled: 'waiting',
  deprecated: 'waiting',
  unpinned: 'waiting',
  degraded: 'waiting',
  pending: 'waiting',
  down: 'bad',
  mismatch: 'bad',
  dead_letter: 'bad',
  denied: 'bad',
  failed: 'bad',
  refused: 'bad',
  unavailable: 'bad',
};

/** Returns the tone of a state; undefined for a word that is no known state. */
export function toneOf(state: string): Tone | undefined {
  return Object.hasOwn(STATES, state) ? STATES[state] : undefined;
}
