/**
 * An open run beside a movement that ended badly and needs a person. The movement's own run is
 * closed and cannot change what it shows, so it would still show the need after a retry.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { condition, defineSignal, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import { readSignal } from '../domain/attention-reasons.ts';
import { ATTENTION_SIGNAL, SEARCH_ATTRIBUTES } from '../domain/messages.ts';

const key = defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, SearchAttributeType.KEYWORD);

/**
 * Decides and reads nothing: activities/relays/attention.ts starts it with what it shows, and
 * signals when no person is needed.
 */
export async function attentionWorkflow(): Promise<void> {
  let needed = true;
  setHandler(defineSignal<[unknown]>(ATTENTION_SIGNAL), (signal) => {
    const next = readSignal(signal);
    needed = next !== null;
    // The reason may have changed since the start, which shows the first one.
    if (next !== null) upsertSearchAttributes([{ key, value: next.reason }]);
  });
  await condition(() => !needed);
}
