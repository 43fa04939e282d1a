/**
 * Stands open while a movement that ended badly needs a person. Its own run is closed, and nothing
 * of a closed run can be changed: what it shows would go on asking for a person after a retry.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { condition, defineSignal, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { readSignal } from '../domain/attention-reasons.ts';
import { ATTENTION_SIGNAL, SEARCH_ATTRIBUTES } from '../domain/messages.ts';

const key = defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, SearchAttributeType.KEYWORD);

/**
 * Decides nothing and reads nothing: activities/relays/attention.ts starts it with what it shows,
 * and tells it when no person is needed any more.
 */
export async function attentionWorkflow(): Promise<void> {
  let needed = true;
  setHandler(defineSignal<[unknown]>(ATTENTION_SIGNAL), (told) => {
    const next = readSignal(told);
    needed = next !== null;
    // The reason may be another by now; that which it was started with shows from the start.
    if (next !== null) upsertSearchAttributes([{ key, value: next.reason }]);
  });
  await condition(() => !needed);
}
