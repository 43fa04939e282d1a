/** Options and questions that several groups have. */
import { flag, required, text } from '../command-line/options.ts';
import type { Session } from '../command-line/session.ts';

/** Of whatever asks first. */
export const YES = { yes: flag('do not ask (for scripts); what will be done is still shown') };
export const REASON = { reason: required(text('text', 'kept in the audit')) };
export const IDEMPOTENCY = {
  idempotencyKey: text('key', 'makes a repeat safe; one is made where none is given'),
};
export const MOVEMENT = { movementId: 'id of the movement' };

/** Shows what would be sent, field by field, and asks whether it may be. */
export function asked(
  session: Session,
  question: string,
  { body, yes }: { readonly body: object; readonly yes: boolean },
): Promise<void> {
  const fields = Object.entries(body).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return session.confirm(question, { yes, what: session.aside.record(fields) });
}
