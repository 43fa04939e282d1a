/** Starts the runs of open movements and transfers that Temporal does not have. */
import { settleEach } from '../../platform/at-once.ts';
import type { RunOf, Temporal, Wake } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import { listOpen, listOpenTransfers, type WaitingPlace } from '../../store/sweeps.ts';

const PAGE = 500;
/** Calls of Temporal that are under way at a time. */
const AT_ONCE = 8;

/** What was found, and what was done about it. */
export interface Rebuilt {
  /** By state. */
  readonly open: Readonly<Record<string, number>>;
  readonly running: number;
  /** Those without a run: it was started, or would be. */
  readonly started: readonly string[];
  /** Those that are still without, and why. */
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
 * started meanwhile is only woken. Writes nothing, so every stop and every mark of a restore holds
 * for the new run as it did for the old one.
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

/** Whether it had a run. */
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
