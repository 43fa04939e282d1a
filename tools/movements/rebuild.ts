/** Starts the missing Temporal runs of open movements and capital transfers. */
import { settleEach } from '../../platform/at-once.ts';
import type { RunOf, Temporal, Wake } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import { listOpen, listOpenTransfers, type WaitingPlace } from '../../store/sweeps.ts';

const PAGE = 500;
/** Calls of Temporal that are under way at the same time. */
const AT_ONCE = 8;

/** The open movements (or transfers) that were found, and what was done for each. */
export interface Rebuilt {
  /** Number of open ones, by state. */
  readonly open: Readonly<Record<string, number>>;
  readonly running: number;
  /** Ids without a run; the run was started, or would be without `dryRun`. */
  readonly started: readonly string[];
  /** Ids whose run could not be started, with the reason. */
  readonly failed: Readonly<Record<string, string>>;
}

export interface Rebuild {
  readonly dry_run: boolean;
  readonly movements: Rebuilt;
  readonly capital_transfers: Rebuilt;
}

type Calls = Pick<Temporal, 'isRunning' | 'wake'>;

/**
 * Starts the run of every open movement and transfer that has none, as the sweeper does: a run that
 * has started meanwhile is only woken. Writes nothing to the database, so every stop and every mark
 * of a restore applies to the new run as it did to the old one.
 */
export async function rebuildRuns(
  db: Database,
  temporal: Calls,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Rebuild> {
  const movements = createTally();
  const transfers = createTally();
  let place: WaitingPlace | null = null;
  do {
    const page = await listOpen(db, place, PAGE);
    await settleEach(page.movements, AT_ONCE, ({ state, ...about }) =>
      movements.see(about.movement_id, state, () =>
        revive(temporal, { movementId: about.movement_id }, dryRun, { about }),
      ),
    );
    place = page.next;
  } while (place !== null);
  await settleEach(await listOpenTransfers(db), AT_ONCE, ({ transfer_id: transferId, state }) =>
    transfers.see(transferId, state, () => revive(temporal, { transferId }, dryRun)),
  );
  return { dry_run: dryRun, movements: movements.result(), capital_transfers: transfers.result() };
}

/** Starts the run if it is missing (unless `dryRun`); returns whether it was running. */
async function revive(
  temporal: Calls,
  of: RunOf,
  dryRun: boolean,
  more: Pick<Wake, 'about'> = {},
): Promise<boolean> {
  if (await temporal.isRunning(of)) return true;
  if (!dryRun) await temporal.wake({ ...of, ...more, kind: 'wake', commandId: null });
  return false;
}

function createTally() {
  const open: Record<string, number> = {};
  const started: string[] = [];
  const failed: Record<string, string> = {};
  let running = 0;
  return {
    async see(id: string, state: string, look: () => Promise<boolean>): Promise<void> {
      open[state] = (open[state] ?? 0) + 1;
      try {
        if (await look()) running += 1;
        else started.push(id);
      } catch (error) {
        failed[id] = error instanceof Error ? error.message : String(error);
      }
    },
    result: (): Rebuilt => ({ open, running, started, failed }),
  };
}
