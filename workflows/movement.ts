/**
 * The workflow run of a movement. Postgres holds the truth; the run loads it, walks the graph, runs
 * the ready nodes and writes each decision as compare-and-set. A signal means only "look again".
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { readSignal } from '../domain/attention-reasons.ts';
import { decide, decided, nextOf } from '../domain/decision.ts';
import { ATTENTION_SIGNAL, SIGNALS, type LoadedMovement } from '../domain/messages.ts';
import { decideOptions, LOCAL_OPTIONS } from './activity-options.ts';
import { currentBuild, followedBy, onLeaveBuild } from './builds.ts';
import { locally, turnIsFree } from './local-activities.ts';
import { RunState, type HandedOn } from './run-state.ts';
import { beginning, withEnds } from './view.ts';

/**
 * Result of a run. A FAILED movement closes the run as a failure instead, so that the close status
 * shows it.
 */
export interface MovementOutcome {
  readonly movement_id: string;
  readonly request_state: string;
  /** Present when the run left this build, and a stored wake starts the next run. */
  readonly left_build?: string;
}

/**
 * Runs a movement. Temporal's own "request cancellation" ends nothing; only the database does. If a
 * run ended during a send, no run would follow its nodes.
 */
export function movementWorkflow(
  movementId: string,
  handed: HandedOn = { asked: [] },
): Promise<MovementOutcome> {
  return CancellationScope.nonCancellable(() => conduct(movementId, handed));
}

async function conduct(movementId: string, handed: HandedOn): Promise<MovementOutcome> {
  const run = new RunState(movementId, handed);
  for (const name of SIGNALS) setHandler(defineSignal<[string | null]>(name), () => run.wake());
  setHandler(defineSignal<[unknown]>(ATTENTION_SIGNAL), (signal) => run.needs(readSignal(signal)));
  const follow = (): Promise<never> =>
    followedBy<typeof movementWorkflow>(run.leavesBy, movementId, run.handedOn());
  onLeaveBuild((by) => run.leaveBuild(by));

  for (;;) {
    const seen = run.wakes;
    let view = await locally(LOCAL_OPTIONS, (local) =>
      local.load({ movement_id: movementId, run_id: workflowInfo().runId, decides: true }),
    );
    if (view === null)
      throw ApplicationFailure.nonRetryable(
        `no movement ${movementId} in the database`,
        'MOVEMENT_NOT_FOUND',
      );
    run.load(view);

    // Until the next wake (a signal to look again), only this run changes the movement, so its view
    // stays current.
    while (run.wakes === seen) {
      if (view.ended) {
        if (!turnIsFree()) {
          // A request to cancel may still be open as a local call.
          await condition(turnIsFree);
          continue;
        }
        run.tell(view, 'pausing');
        return close(view);
      }
      if (run.leaves()) {
        if (run.leavesBy !== 'restart') return follow();
        if (await storeWake(run, movementId)) return leave(view);
        break;
      }
      if (view.state === 'PENDING_APPROVAL') {
        run.tell(view, 'pausing');
        const woken = await condition(
          () => run.wakes !== seen || run.leavesBuild(),
          Math.max(view.ttl_ms, 10),
          { summary: 'until the approval expires' },
        );
        if (!woken)
          await locally(LOCAL_OPTIONS, (local) => local.expire({ movement_id: movementId }));
        break;
      }
      const next = nextOf(view);
      const decision = decide(view, next, run.stopped);
      if (decision !== null) {
        const begin = beginning(view, decision, (node) => run.isIdle(node));
        const written = await locally(decideOptions(begin?.node_key), (local) =>
          local.decide({ ...decision, ...(begin === undefined ? {} : { begin }) }),
        );
        if (!written.applied) break;
        view = decided(view, decision, written.version);
        run.write(view, begin, written.begun);
        continue;
      }
      run.start(view, next.run);
      if (view.state === 'CANCELLED') run.askToCancel(view);
      run.askAboutUnknown(view);
      if (run.leavesOnceWoken()) return follow();
      const before = run.settled;
      run.tell(view, 'pausing');
      await condition(() => run.wakes !== seen || run.settled !== before || run.leaves());
      view = run.advance(withEnds(view, run.ends));
      if (run.isBehind(view)) break;
      run.tell(view, 'changed');
    }
  }
}

/**
 * Stores the wake that starts the movement's next run. Returns false when a signal came meanwhile:
 * the run then loads first, which also marks the stored wake as read.
 */
async function storeWake(run: RunState, movementId: string): Promise<boolean> {
  const seen = run.wakes;
  await locally(LOCAL_OPTIONS, (local) => local.leaveBuild({ movement_id: movementId }));
  // The answer of a team's worker may have started another local call meanwhile.
  await condition(turnIsFree);
  return run.wakes === seen;
}

function leave({ movement_id, state }: LoadedMovement): MovementOutcome {
  return { movement_id, request_state: state, left_build: currentBuild() };
}

function close(view: LoadedMovement): MovementOutcome {
  if (view.state === 'FAILED') {
    const at = view.nodes.find(
      ({ state, error_code }) => state === 'FAILED' && error_code === view.error_code,
    );
    throw ApplicationFailure.create({
      message: `movement failed${at === undefined ? '' : ` at ${at.node_key}`}: ${view.error_code ?? 'unknown'}`,
      type: view.error_code ?? 'MOVEMENT_FAILED',
      nonRetryable: true,
      details: [{ movement_id: view.movement_id, request_state: view.state }],
    });
  }
  return { movement_id: view.movement_id, request_state: view.state };
}
