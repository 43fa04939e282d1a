/**
 * The workflow run of a capital transfer: sends once, then calls the provider until the provider's
 * record, or a person, decides how the transfer ended. Postgres holds the truth; a signal means
 * only "look again".
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import {
  SEARCH_ATTRIBUTES,
  SIGNALS,
  type CapitalTransferActivities,
  type LoadedTransfer,
  type LookTransferResult,
} from '../domain/messages.ts';
import type { WayToLeave } from '../domain/builds.ts';
import { currentBuild, followedBy, onLeaveBuild } from './builds.ts';
import { isTooLong } from './continue-as-new.ts';
import { plain } from './details.ts';
import {
  LOCAL_OPTIONS,
  LOOK_TRANSFER_OPTIONS,
  SUBMIT_TRANSFER_OPTIONS,
} from './activity-options.ts';

const local =
  proxyLocalActivities<Pick<CapitalTransferActivities, 'loadTransfer' | 'leaveBuildOfTransfer'>>(
    LOCAL_OPTIONS,
  );
const { submitTransfer } = proxyActivities<CapitalTransferActivities>(SUBMIT_TRANSFER_OPTIONS);
const { lookTransfer } = proxyActivities<CapitalTransferActivities>(LOOK_TRANSFER_OPTIONS);

const stateKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.transfer, SearchAttributeType.KEYWORD);
const assetKey = defineSearchAttributeKey(SEARCH_ATTRIBUTES.asset, SearchAttributeType.KEYWORD);
const strategyKey = defineSearchAttributeKey(
  SEARCH_ATTRIBUTES.strategy,
  SearchAttributeType.KEYWORD,
);

const LONGEST_PAUSE_MS = 30_000;

/**
 * Result of a run. A FAILED transfer closes the run as a failure instead, so that the close status
 * shows it.
 */
export interface CapitalTransferOutcome {
  readonly transfer_id: string;
  readonly request_state: string;
  /** Present when the run left this build, and the relay starts the next run. */
  readonly left_build?: string;
}

/**
 * Runs a capital transfer. Temporal's own "request cancellation" ends nothing, as in a movement's
 * run.
 */
export function capitalTransferWorkflow(transferId: string): Promise<CapitalTransferOutcome> {
  return CancellationScope.nonCancellable(() => conduct(transferId));
}

async function conduct(transferId: string): Promise<CapitalTransferOutcome> {
  let wakes = 0;
  let unsent = 0;
  let shown: string | null = null;
  for (const name of SIGNALS)
    setHandler(defineSignal<[string | null]>(name), () => void (wakes += 1));
  const leaving: { by: WayToLeave | null } = { by: null };
  onLeaveBuild((by) => {
    leaving.by = by;
    // Ends the wait for the provider.
    wakes += 1;
  });
  for (;;) {
    const seen = wakes;
    const view = await local.loadTransfer({
      transfer_id: transferId,
      run_id: workflowInfo().runId,
    });
    if (view === null)
      throw ApplicationFailure.nonRetryable(
        `no capital transfer ${transferId} in the database`,
        'TRANSFER_NOT_FOUND',
      );
    shown = show(view, shown);
    if (view.ended) {
      // A wake (a signal to look again) came after the load, so the load may have missed a change.
      if (wakes !== seen) continue;
      return close(view);
    }
    if (leaving.by === 'restart') {
      await local.leaveBuildOfTransfer({ transfer_id: transferId });
      // The next load then marks the stored change as seen, so it is stored again.
      if (wakes !== seen) continue;
      return { transfer_id: transferId, request_state: view.state, left_build: currentBuild() };
    }
    if (leaving.by === 'continue' || isTooLong(workflowInfo()))
      return followedBy<typeof capitalTransferWorkflow>(leaving.by, transferId);
    if (view.state === 'CREATED') {
      // If a send never passes its fence, the loop must not repeat without pause.
      if (unsent > 0)
        await condition(() => wakes !== seen, Math.min(LONGEST_PAUSE_MS, 100 * 2 ** unsent));
      // The signal to leave ends the pause, and no send follows it. That needs no version: the
      // signal takes effect only in a run pinned to its build, and no other build replays that one.
      if (leaving.by !== null) continue;
      unsent += 1;
      await send(view.transfer_id, view.epoch);
      continue;
    }
    const looked = await look(transferId, () => wakes !== seen);
    if (looked?.next !== 'submit') continue;
    await sleep(looked.delay_ms);
    if (wakes === seen) await send(transferId, looked.epoch);
  }
}

/** Sends the transfer. A later look finds the outcome, whether this call succeeds or not. */
async function send(transfer_id: string, epoch: number): Promise<void> {
  try {
    await submitTransfer({ transfer_id, epoch });
  } catch {
    // After a failure it is unknown whether anything was sent; the next look finds out.
  }
}

/**
 * Looks for the transfer's outcome until there is something to do. Returns null if a wake (a signal
 * to look again) came first.
 */
async function look(transfer_id: string, woken: () => boolean): Promise<LookTransferResult | null> {
  const looking = new CancellationScope();
  const answer = looking.run(() => lookTransfer({ transfer_id }));
  // Cancel the look when a wake (a signal to look again) comes.
  const wake = new CancellationScope();
  void wake
    .run(() => condition(woken))
    .then(() => looking.cancel())
    .catch(() => undefined);
  try {
    return await answer;
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  } finally {
    wake.cancel();
  }
}

function close(view: LoadedTransfer): CapitalTransferOutcome {
  const { transfer_id, state, error_code } = view;
  if (state !== 'FAILED') return { transfer_id, request_state: state };
  throw ApplicationFailure.create({
    message: `capital transfer failed: ${error_code ?? 'unknown'}`,
    type: error_code ?? 'TRANSFER_FAILED',
    nonRetryable: true,
    details: [{ transfer_id, request_state: state }],
  });
}

function show(view: LoadedTransfer, shown: string | null): string {
  if (shown !== view.state) {
    upsertSearchAttributes([
      { key: stateKey, value: view.state },
      ...(shown === null ? [{ key: assetKey, value: view.asset }] : []),
      ...(shown === null && view.strategy_id !== null
        ? [{ key: strategyKey, value: view.strategy_id }]
        : []),
    ]);
    const error = view.error_code === null ? '' : ` · ${plain(view.error_code)}`;
    setCurrentDetails(
      `**${view.state}** · ${plain(view.source)} → ${plain(view.destination)} · ${plain(view.asset)}${error}`,
    );
  }
  return view.state;
}
