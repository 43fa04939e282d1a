/** Options that several groups have. */
import { flag, required, text } from '../command-line/options.ts';

/** Of whatever asks first. */
export const YES = { yes: flag('do not ask (for scripts); what will be done is still shown') };
export const REASON = { reason: required(text('text', 'kept in the audit')) };
export const IDEMPOTENCY = {
  idempotencyKey: text('key', 'makes a repeat safe; one is made where none is given'),
};
export const MOVEMENT = { movementId: 'id of the movement' };
