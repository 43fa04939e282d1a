/**
 * Stands open while a movement that ended badly needs a person. Its own run is closed, and nothing
 * of a closed run can be changed: what it shows would go on asking for a person after a retry.
 */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { readTold } from '../domain/attention-reasons.ts';
import { ATTENTION_SIGNAL } from '../domain/messages.ts';

/**
 * Decides nothing and reads nothing: activities/relays/attention.ts starts it with what it shows,
 * and tells it when no person is needed any more.
 */
export async function attentionWorkflow(): Promise<void> {
  let needed = true;
  setHandler(defineSignal<[unknown]>(ATTENTION_SIGNAL), (told) => {
    needed = readTold(told) !== null;
  });
  await condition(() => !needed);
}
