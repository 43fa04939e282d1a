/**
 * Verifies the decisions of people without the service: what each one proves, and whether it is
 * still as it was stored.
 */
import type { DecisionKind } from '../../domain/approval/decision.ts';
import type { AssertionProblem } from '../../domain/approval/evidence.ts';
import type { Database } from '../../prisma/client.ts';
import {
  assertionProblem,
  decisionHash,
  readDecisions,
  readRemovedDecisions,
  type SignedDecision,
} from '../../store/decisions.ts';

/** Decisions that are in memory at the same time. */
const PAGE = 500;

/**
 * What a decision proves. `passkey`: that the person's authenticator signed exactly this decision,
 * which anybody can verify. `shared_secret`: only that a holder of the secret made it, and the
 * service is one.
 */
export type Proves = 'passkey' | 'shared_secret';

export type DecisionFault =
  /** It is not what the audit keeps the hash of, or its identity was never the person's. */
  | 'changed'
  /** The audit knows it, and it is not stored. */
  | 'removed'
  /** It is stored, and the audit does not know it. */
  | 'invented'
  /** Its assertion does not verify. */
  | { readonly assertion: AssertionProblem | 'no_assertion' };

export interface DecisionReport {
  readonly decision_id: string;
  readonly subject_id?: string;
  readonly person?: string;
  readonly decision?: DecisionKind;
  readonly at?: string;
  /**
   * Whether its key or passkey is known to have been in the wrong hands then: no fault of the
   * record, and it counts for nothing.
   */
  readonly compromised?: boolean;
  readonly proves: Proves | null;
  readonly fault: DecisionFault | null;
}

export interface DecisionsVerified {
  readonly ok: boolean;
  readonly decisions: number;
  readonly by_passkey: number;
  readonly by_shared_secret: number;
  readonly faults: readonly DecisionReport[];
}

/** Verifies every decision; `each` gets the report of each of them. */
export async function verifyDecisions(
  db: Database,
  each: (report: DecisionReport) => void = () => undefined,
): Promise<DecisionsVerified> {
  const counts = { passkey: 0, shared_secret: 0 };
  const faults: DecisionReport[] = [];
  let decisions = 0;
  const note = (report: DecisionReport): void => {
    if (report.fault !== null) faults.push(report);
    if (report.proves !== null) counts[report.proves] += 1;
    each(report);
  };
  let after: string | null = null;
  for (let more = true; more;) {
    const page: readonly SignedDecision[] = await readDecisions(db, { after, limit: PAGE });
    for (const decision of page) {
      decisions += 1;
      note(await reportOf(decision));
    }
    after = page.at(-1)?.decision_id ?? after;
    more = page.length === PAGE;
  }
  for (const decision_id of await readRemovedDecisions(db))
    note({ decision_id, proves: null, fault: 'removed' });
  return {
    ok: faults.length === 0,
    decisions,
    by_passkey: counts.passkey,
    by_shared_secret: counts.shared_secret,
    faults,
  };
}

async function reportOf(decision: SignedDecision): Promise<DecisionReport> {
  const { decision_id, subject_id, person, at, evidence, compromised } = decision;
  const kind = decision.decision;
  const fault = await faultOf(decision);
  const proves = evidence === null ? 'shared_secret' : 'passkey';
  return {
    ...{ decision_id, subject_id, person, decision: kind, at, compromised, fault },
    proves: fault === null ? proves : null,
  };
}

async function faultOf(decision: SignedDecision): Promise<DecisionFault | null> {
  const { audited } = decision;
  if (audited.rows === 0) return 'invented';
  if (audited.hash !== decisionHash(decision) || audited.rows !== 1) return 'changed';
  if (audited.same_time !== true || !decision.is_persons) return 'changed';
  if (decision.evidence === null) return null;
  const assertion = await assertionProblem(decision);
  return assertion === null ? null : { assertion };
}
