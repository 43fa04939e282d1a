/**
 * What a person signs with a passkey to approve, as text: the challenge of the assertion is its
 * SHA-256, so that the assertion proves exactly this decision to anybody.
 */

/** What an approval may be shown by: any authenticated request, or an assertion of a passkey. */
export const EVIDENCE = ['any', 'passkey'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** The decision that a statement is about. */
export interface Decided {
  readonly kind: 'movement' | 'change_request';
  readonly id: string;
  /** Hash of the plan, or of the request's document. */
  readonly hash: string;
  readonly decision: 'approve';
  readonly person: string;
}

/** A statement as the service makes it for one signature. */
export interface Statement extends Decided {
  /** Which installation it is for; a restore begins another one. */
  readonly deployment: string;
  readonly nonce: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Seconds after a statement's time in which its assertion is taken. */
export const STATEMENT_SECONDS = 300;

const FORM = 'svc-approval/1';
const LINES = ['deployment', 'kind', 'id', 'hash', 'decision', 'person', 'nonce', 'at'] as const;
type Line = (typeof LINES)[number];

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const NONCE = /^[A-Za-z0-9_-]{16,64}$/;

/** Returns the text of a statement: its form, then one value a line. */
export function statementText(statement: Statement): string {
  return [FORM, ...LINES.map((line) => statement[line])].join('\n');
}

/** Returns the lines of a statement's text by name; null for any other text. */
export function readStatement(text: string): Readonly<Record<Line, string>> | null {
  const [form, ...values] = text.split('\n');
  if (form !== FORM || values.length !== LINES.length) return null;
  const read = Object.fromEntries(
    LINES.map((line, index) => [line, values[index] ?? '']),
  ) as Record<Line, string>;
  // One way to write a time, so that all who read it read the same.
  return TIME.test(read.at) && NONCE.test(read.nonce) ? read : null;
}

/** Why an assertion is no evidence of a decision. */
export const ASSERTION_PROBLEMS = [
  /** It is no assertion, or its statement has another form. */
  'malformed',
  /** The statement is for another installation, or from before a restore. */
  'other_deployment',
  /** The statement is about another movement or change request. */
  'other_subject',
  /** The statement is about another plan or document. */
  'other_hash',
  'other_decision',
  'other_person',
  /** The statement is older than five minutes, or of a later time. */
  'statement_expired',
  /** The passkey signed another text than the statement. */
  'other_statement',
  /** It was made on a page of another origin, or in a frame of one. */
  'other_origin',
  /** It was made for another relying party. */
  'other_relying_party',
  /** The authenticator saw no touch, or did not verify who touched it. */
  'user_not_verified',
  /** No passkey of this person that is in force has this id. */
  'unknown_credential',
  'bad_signature',
  /** It was used for a decision before. */
  'replayed',
  /** The counter is not above the last one: the passkey may have been copied. */
  'counter_went_back',
] as const;
export type AssertionProblem = (typeof ASSERTION_PROBLEMS)[number];

/**
 * Returns how a statement differs from the decision that it must be about; null if it does not.
 * `deployment`: the one for which it must be made. `nowMs`: when it arrived.
 */
export function statementProblem(
  text: string,
  decided: Decided,
  deployment: string,
  nowMs: number,
): AssertionProblem | null {
  const read = readStatement(text);
  if (read === null) return 'malformed';
  if (read.deployment !== deployment) return 'other_deployment';
  if (read.kind !== decided.kind || read.id !== decided.id) return 'other_subject';
  if (read.hash !== decided.hash) return 'other_hash';
  if (read.decision !== decided.decision) return 'other_decision';
  if (read.person !== decided.person) return 'other_person';
  return isInTime(read.at, nowMs) ? null : 'statement_expired';
}

/** Returns whether a statement of this time is taken now; false for a time that cannot be read. */
export function isInTime(at: string, nowMs: number): boolean {
  const age = nowMs - Date.parse(at);
  return age >= 0 && age <= STATEMENT_SECONDS * 1000;
}
