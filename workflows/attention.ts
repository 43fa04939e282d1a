/**
 * A separate open workflow run for a movement that ended badly and needs a person. The movement's
 * own run is closed, so the attributes that it shows cannot change after a retry.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  condition,
  defineSignal,
  setHandler,
  setWorkflowOptions,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { readSignal } from '../domain/attention-reasons.ts';
import { ATTENTION_SIGNAL, SEARCH_ATTRIBUTES } from '../domain/messages.ts';
import { workflowSettings } from './settings.ts';

const key = defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, SearchAttributeType.KEYWORD);

/**
 * Stays open while a person is needed. Decides and reads nothing: activities/relays/attention.ts
 * starts it with the attributes to show, and signals when no person is needed.
 */
export async function attentionWorkflow(): Promise<void> {
  let needed = true;
  setHandler(defineSignal<[unknown]>(ATTENTION_SIGNAL), (signal) => {
    const next = readSignal(signal);
    needed = next !== null;
    // The start shows the first reason; the reason may have changed since.
    if (next !== null) upsertSearchAttributes([{ key, value: next.reason }]);
  });
  await condition(() => !needed);
}

// Such a run may stay open for weeks, so it must not keep an old build open: it follows the current
// one. The server refuses this option from workers without a build.
setWorkflowOptions(
  () => (workflowSettings().versioned ? { versioningBehavior: 'AUTO_UPGRADE' } : {}),
  attentionWorkflow,
);
