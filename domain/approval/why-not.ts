/**
 * The sentences of console and `fundctl` about whether the caller may approve a movement or a
 * change request.
 */
import type { WhyNot } from './rule.ts';

const SENTENCES: Readonly<Record<WhyNot, string>> = {
  initiator: 'You may not approve: you created this, or promoted the proposal of its template.',
  payee_author: 'You may not approve: you added or changed a payee of this movement.',
  template_author: 'You may not approve: you created or changed the template of this movement.',
  not_in_group: 'You may not approve: you are in none of the groups that the rules require.',
  no_passkey:
    'You may not approve: the rule requires a passkey and you have none; make one in the console.',
  no_person:
    'You may not approve: your identity belongs to no person; `fundadmin people set` assigns it.',
  role: 'You may not approve: your role decides nothing.',
  not_waiting: 'It does not wait for an approval.',
};

/** Returns whether the caller may approve, and else why not, as a sentence. */
export function mayApproveSentence(why: WhyNot | null): string {
  return why === null ? 'You may approve.' : SENTENCES[why];
}
