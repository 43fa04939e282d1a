/**
 * Recomputes the whole hash chain of the audit trail and reports every place that is not as it was
 * written. A fault does not end the check: the rest is checked from the stored seal of that place.
 */
import {
  chainHash,
  EMPTY_CHAIN,
  eventHash,
  type AuditMacs,
  type ChainHead,
} from '../../platform/audit-chain.ts';
import type { Database } from '../../prisma/client.ts';
import { countAudit, readSealed, type SealedRow } from '../../store/audit-seals.ts';
import { ToolError } from '../io.ts';

/** Rows and seals that are in memory at the same time. */
const PAGE = 1_000;
/** Most faults that are listed; further ones are only counted. */
const LISTED = 50;
/** Seconds after which a row must be sealed: longer than a worker takes, even after its start. */
export const SEAL_GRACE_SECONDS = 60;

export type AuditFault =
  | 'row_changed'
  | 'row_missing'
  | 'row_not_of_service'
  | 'seal_changed'
  | 'seal_missing'
  | 'seal_not_of_service'
  | 'not_sealed'
  | 'head_missing'
  | 'head_differs';

export interface FaultPlace {
  readonly fault: AuditFault;
  readonly position?: number;
  readonly event_id?: string;
  readonly message: string;
}

export interface Verification {
  readonly ok: boolean;
  readonly events: number;
  readonly sealed: number;
  /**
   * Number of seals and rows that were recomputed without a fault: all of them, or those before the
   * first fault.
   */
  readonly checked: number;
  /** True when a key was set, so that MACs were checked. */
  readonly authenticated: boolean;
  /** Number of rows without a MAC that were accepted because of `unauthenticatedBefore`. */
  readonly unauthenticated: number;
  readonly head: { readonly position: number; readonly chain_hash: string } | null;
  readonly first_fault: FaultPlace | null;
  /** Number of all faults; `faults` lists the first of them, in the order of the chain. */
  readonly fault_count: number;
  readonly faults: readonly FaultPlace[];
}

export interface VerifyOptions {
  readonly macs: AuditMacs;
  /**
   * Time in milliseconds; null: none. Earlier rows and seals need no MAC, unless a row of a later
   * time was sealed before them.
   */
  readonly unauthenticatedBefore: number | null;
  readonly expectHead: ChainHead | null;
}

/** Verifies the audit trail. Reads in pages, so the service may write and seal meanwhile. */
export async function verifyAudit(db: Database, options: VerifyOptions): Promise<Verification> {
  const walk = createWalk(options);
  const faults: FaultPlace[] = [];
  let count = 0;
  const note = (fault: FaultPlace | null): void => {
    if (fault === null) return;
    count += 1;
    if (faults.length < LISTED) faults.push(fault);
  };
  /** The last seal before the first fault; null while there is no fault. */
  let whole: ChainHead | null = null;
  for (let more = true; more;) {
    const page = await readSealed(db, walk.head().position, PAGE);
    for (const each of page) {
      const fault = walk.step(each);
      if (fault === null) continue;
      whole ??= walk.head();
      note(fault);
      walk.pass(each);
    }
    more = page.length === PAGE;
  }
  const counts = await countAudit(db, SEAL_GRACE_SECONDS);
  note(walk.missingHead());
  if (counts.overdue > 0) {
    const message = `${String(counts.overdue)} rows have had no seal for more than ${String(SEAL_GRACE_SECONDS)} s: no worker seals, or somebody inserted them`;
    note({
      fault: 'not_sealed',
      message,
      ...(counts.oldest_overdue === null ? {} : { event_id: counts.oldest_overdue }),
    });
  }
  const { position, chain_hash } = whole ?? walk.head();
  return {
    ok: count === 0,
    events: counts.events,
    sealed: counts.sealed,
    checked: Number(position),
    authenticated: options.macs.keyed,
    unauthenticated: walk.unauthenticated(),
    head: position === 0n ? null : { position: Number(position), chain_hash },
    first_fault: faults[0] ?? null,
    fault_count: count,
    faults,
  };
}

/** Creates a walk from seal to seal; each step returns the fault of its seal, or null. */
function createWalk({ macs, unauthenticatedBefore, expectHead }: VerifyOptions) {
  let head = EMPTY_CHAIN;
  let excused = 0;
  /**
   * True while rows without a MAC are accepted. After a row of a later time they are not: such a
   * row could be new with an old date.
   */
  let beforeKey = unauthenticatedBefore !== null;

  const step = ({ seal, row }: SealedRow): FaultPlace | null => {
    const position = head.position + 1n;
    const at = { position: Number(position) };
    if (seal.position !== position)
      return { ...at, fault: 'seal_missing', message: 'the chain has no seal at this position' };
    const place = { ...at, event_id: seal.event_id };
    if (row === null)
      return { ...place, fault: 'row_missing', message: 'the row of this seal is gone' };
    const links = chainHash(head.chain_hash, position, seal.event_hash) === seal.chain_hash;
    if (!links)
      return {
        ...place,
        fault: 'seal_changed',
        message: 'the seal does not follow from the seal before it',
      };
    if (eventHash(row.record) !== seal.event_hash)
      return { ...place, fault: 'row_changed', message: 'the row is not what was sealed' };
    if (expectHead?.position === position && expectHead.chain_hash !== seal.chain_hash) {
      return {
        ...place,
        fault: 'head_differs',
        message: 'the chain hash at this position is not the expected one',
      };
    }
    beforeKey &&= Date.parse(row.record.occurred_at) < (unauthenticatedBefore ?? 0);
    const strange = foreign({ seal, row });
    if (strange !== null) return { ...place, ...strange };
    head = { position, chain_hash: seal.chain_hash };
    return null;
  };

  /** Returns the fault when the row or the seal was not written by the service, else null. */
  const foreign = ({
    seal,
    row,
  }: {
    seal: SealedRow['seal'];
    row: NonNullable<SealedRow['row']>;
  }): Omit<FaultPlace, 'position'> | null => {
    if (!row.exact)
      return {
        fault: 'row_not_of_service',
        message: 'the row holds numbers with more digits than the service writes',
      };
    if (!macs.keyed) {
      if (seal.mac === null && row.mac === null) return null;
      throw new ToolError(
        'Rows are vouched for under a key, and none is set to check it with: set SVC_SECRETS_KEY.',
      );
    }
    const excusable = (mac: string | null): boolean => mac === null && beforeKey;
    const what = (mac: string | null): string =>
      mac === null ? 'no MAC' : 'a MAC of no known key';
    if (!macs.isOfSeal(seal.chain_hash, seal.mac) && !excusable(seal.mac)) {
      return { fault: 'seal_not_of_service', message: `the seal has ${what(seal.mac)}` };
    }
    if (macs.isOfRow(row.record, row.mac)) return null;
    if (!excusable(row.mac))
      return { fault: 'row_not_of_service', message: `the row has ${what(row.mac)}` };
    excused += 1;
    return null;
  };

  return {
    step,
    /** Continues after a seal with a fault, from the position and hash that this seal states. */
    pass({ seal }: SealedRow): void {
      head = { position: seal.position, chain_hash: seal.chain_hash };
    },
    head: (): ChainHead => head,
    unauthenticated: (): number => excused,
    missingHead(): FaultPlace | null {
      if (expectHead === null || expectHead.position <= head.position) return null;
      const position = Number(expectHead.position);
      return {
        position,
        fault: 'head_missing',
        message: `the chain ends at position ${String(head.position)}, before the expected head`,
      };
    },
  };
}
