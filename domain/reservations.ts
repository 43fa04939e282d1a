/** Whether a movement holds what its plan says. */
import { compare } from './money.ts';
import type { ReservationStatus } from './states/movement.ts';
import type { Hold } from './transition.ts';

export interface HoldFault {
  readonly fault: 'hold_missing' | 'hold_unexpected' | 'hold_differs' | 'hold_of_ended_movement';
  readonly pool: string;
  readonly held: string;
  readonly expected: string;
}

/** The pools in which open holds are not what the plan asks for; a movement that has ended its holds must have none. */
export function holdFaults(status: ReservationStatus, holds: readonly Hold[], expected: readonly Hold[]): readonly HoldFault[] {
  const due = new Map(status === 'held' ? expected.map((hold) => [poolOf(hold), hold.amount]) : []);
  const open = new Map(holds.map((hold) => [poolOf(hold), hold.amount]));
  return [...new Set([...due.keys(), ...open.keys()])].flatMap((pool): readonly HoldFault[] => {
    const [held, wanted] = [open.get(pool) ?? '0', due.get(pool) ?? '0'];
    if (compare(held, wanted) === 0) return [];
    return [{ fault: nameOf(status, held, wanted), pool, held, expected: wanted }];
  });
}

function nameOf(status: ReservationStatus, held: string, expected: string): HoldFault['fault'] {
  if (status !== 'held') return 'hold_of_ended_movement';
  if (held === '0') return 'hold_missing';
  return expected === '0' ? 'hold_unexpected' : 'hold_differs';
}

const poolOf = ({ venue_key, account_type, asset }: Hold): string => `${venue_key}/${account_type}/${asset}`;
