/**
 * Recomputes the whole chain of the audit trail and names the places that are not as they were
 * written. What is found at one is no end: the rest is checked from the seal that stands there.
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

/** Rows and seals in memory at a time. */
const PAGE = 1_000;
/** Faults that are listed; more are only counted. */
const LISTED = 50;
/** Longer than the sealers take, also with a worker just started. */
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
  /** Seals and rows that were recomputed: all of them, or those up to the first fault. */
  readonly checked: number;
  /** Whether there was a key to check MACs with. */
  readonly authenticated: boolean;
  /** Rows without a MAC that `unauthenticatedBefore` let pass. */
  readonly unauthenticated: number;
  readonly head: { readonly position: number; readonly chain_hash: string } | null;
  readonly first_fault: FaultPlace | null;
  /** How many there are, and the first of them, in the order of the chain. */
  readonly fault_count: number;
  readonly faults: readonly FaultPlace[];
}

export interface VerifyOptions {
  readonly macs: AuditMacs;
  /**
   * Rows and seals of a time before (in ms) need no MAC, as long as nothing of a later time was
   * sealed ahead of them.
   */
  readonly unauthenticatedBefore: number | null;
  readonly expectHead: ChainHead | null;
}

/** Reads in pages, beside a service that goes on writing and sealing. */
export async function verifyAudit(db: Database, options: VerifyOptions): Promise<Verification> {
  const walk = createWalk(options);
  const faults: FaultPlace[] = [];
  let count = 0;
  const note = (fault: FaultPlace | null): void => {
    if (fault === null) return;
    count += 1;
    if (faults.length < LISTED) faults.push(fault);
  };
  /** As far as nothing is wrong. */
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

/** Goes from seal to seal; a step answers what is wrong with it. */
function createWalk({ macs, unauthenticatedBefore, expectHead }: VerifyOptions) {
  let head = EMPTY_CHAIN;
  let excused = 0;
  /**
   * Nothing without a MAC is accepted behind a row of a later time: it would be new and dated back.
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
        message: 'the seal does not follow from the one before',
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

  /** What shows that somebody else than the service wrote the row or the seal. */
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
    /** Goes on behind a seal at which something is wrong, from what it says itself. */
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
