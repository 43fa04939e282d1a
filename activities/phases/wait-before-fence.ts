/**
 * Makes a node wait before its fence: its nonce lane is closed, clocks disagree, or its venue does
 * not take it.
 */
import type { PhaseResult } from '../../domain/messages.ts';
import { storable } from '../../domain/text.ts';
import type { NodeFields } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import type { PhaseDependencies } from './context.ts';
import { result } from './results.ts';

const PAUSE_MS = 5_000;

/** What a node waits for: its code, and the sentence that a person reads. */
interface Wait {
  readonly code: string;
  readonly why: string;
  readonly set?: NodeFields;
}

/**
 * Makes the node wait as long as its deadline allows, and shows what it waits for. Nothing is
 * claimed or sent, so this uses no attempt. `set`: fields that are written as well.
 */
export async function waitBeforeFence(
  deps: PhaseDependencies,
  row: PhaseRow,
  { code, why, set = {} }: Wait,
): Promise<PhaseResult> {
  const message = storable(why, 1_000);
  const isShown = row.error_code === code && row.error_message === message;
  if (!isShown || row.error_count > 0 || Object.keys(set).length > 0) {
    await applyTransition(deps.db, {
      movement_id: row.movement_id,
      nodes: [
        {
          node_key: row.node_key,
          from: 'READY',
          moves: [],
          attempt: row.attempt,
          epoch: row.epoch,
          // Faults during the wait do not count as attempts.
          set: { ...set, error_code: code, error_message: message, error_count: 0 },
        },
      ],
      timeline: [],
    });
  }
  return { ...result('READY', 'submit'), delay_ms: PAUSE_MS };
}
