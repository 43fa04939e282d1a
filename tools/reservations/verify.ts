/**
 * `fundadmin reservations verify`: recomputes every reservation, the amounts recorded as sent, and
 * the used part of budgets, from plans, node states and capital transfers.
 */
import { reservationFaults, type HoldFault } from '../../domain/reservations.ts';
import type { Database } from '../../prisma/client.ts';
import {
  readReservingMovements,
  readUnevenPools,
  readUnevenTransfers,
  type PoolSum,
  type UnevenTransfer,
} from '../../store/reservations.ts';

const PAGE = 200;
/** Most faults that are shown; all are counted. */
const SHOWN = 50;

export interface VerifyResult {
  readonly ok: boolean;
  /** Number of checked movements: those that draw from pools or that a policy approved. */
  readonly movements: number;
  readonly faults: number;
  readonly pools: readonly PoolSum[];
  readonly transfers: readonly UnevenTransfer[];
  readonly first_faults: readonly (HoldFault & { readonly movement_id: string })[];
}

/** Verifies reservations beside the running service, in pages; each page is one snapshot. */
export async function verifyReservations(db: Database): Promise<VerifyResult> {
  const pools = await readUnevenPools(db);
  const transfers = await readUnevenTransfers(db);
  const found: (HoldFault & { readonly movement_id: string })[] = [];
  let movements = 0;
  for (let after: string | null = null; ;) {
    const page = await readReservingMovements(db, after, PAGE);
    movements += page.length;
    for (const each of page) {
      found.push(
        ...reservationFaults(each).map((fault) => ({ movement_id: each.movement_id, ...fault })),
      );
    }
    after = page.at(-1)?.movement_id ?? null;
    if (after === null || page.length < PAGE) break;
  }
  const faults = pools.length + transfers.length + found.length;
  return {
    ok: faults === 0,
    movements,
    faults,
    pools,
    transfers: transfers.slice(0, SHOWN),
    first_faults: found.slice(0, SHOWN),
  };
}
