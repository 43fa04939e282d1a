/** Whom a movement waits for. */

/** The same for every operator: the service checks who may decide when they decide. */
export type Group = 'you' | 'others' | 'broken';

const GROUPS: Readonly<Record<string, Group>> = {
  approval: 'you',
  approval_expires_soon: 'you',
  manual_gate: 'you',
  unknown_outcome: 'broken',
  failed: 'broken',
  lane_stuck: 'broken',
  lane_blocked: 'others',
  delivery_late: 'others',
  executor_unavailable: 'others',
  observed_long: 'others',
};

/** A reason that this page does not know is shown as broken, so that someone looks. */
export function groupOf(reason: string | null): Group {
  return GROUPS[reason ?? ''] ?? 'broken';
}
