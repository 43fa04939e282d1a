/** What the audit keeps of a person's decision. */
import canonicalize from 'canonicalize';

/** What a person decides. A withdrawal takes the person's approval back. */
export type DecisionKind = 'approve' | 'withdraw';

/** Returns what is stored of a decision as RFC 8785 JSON; the audit keeps its SHA-256. */
export function decisionDocument(decision: {
  readonly decision_id: string;
  readonly subject_id: string;
  readonly identity: string | null;
  readonly key_id: string | null;
  readonly hash: string;
  readonly decision: DecisionKind;
  readonly reason: string | null;
  readonly evidence: object | null;
}): string {
  const { decision_id, subject_id, identity, key_id, hash, reason, evidence } = decision;
  const about = { decision_id, subject_id, identity, key_id, hash };
  return canonicalize({ ...about, decision: decision.decision, reason, evidence }) ?? '';
}
