/** Colour for people: what is well, what is not, what goes on. Never on anything but a terminal. */
import picocolors from 'picocolors';

export const TONES = ['good', 'bad', 'waiting', 'busy', 'dim', 'strong'] as const;
export type Tone = (typeof TONES)[number];
export type Paint = (tone: Tone | undefined, text: string) => string;

/** Colours where `enabled`; else the text as it is. */
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

/** Whether a stream is one that people look at, and they have not said that they want none. */
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

/** The colour of a state of anything; none for words that are no state. */
export function toneOf(state: string): Tone | undefined {
  return Object.hasOwn(STATES, state) ? STATES[state] : undefined;
}
