/**
 * What one workflow run of a movement remembers between its loads. Each method makes one change.
 * Nothing here is awaited, so the run's commands have the order in which the loop of `movement.ts`
 * calls the methods.
 */
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { SignalledAttention } from '../domain/attention-reasons.ts';
import type { WayToLeave } from '../domain/builds.ts';
import { attemptOf, decided } from '../domain/decision.ts';
import { onCancelTargets } from '../domain/graph/edges.ts';
import type {
  LoadedMovement,
  LoadedNode,
  Phase,
  PhaseArgs,
  PhaseResult,
} from '../domain/messages.ts';
import { isTooLong } from './continue-as-new.ts';
import { show, type Shown } from './details.ts';
import { takeTurns, turnIsFree } from './local-activities.ts';
import { askAboutUnknown, runNode, type NodeEnd } from './node.ts';
import { askToCancel } from './phases.ts';
import { has } from './versions.ts';
import { courseOf } from './course.ts';

/** What a run passes to the next run because a load does not return it. */
export interface HandedOn {
  /** Nodes whose executors received a cancel request. */
  readonly asked: readonly string[];
}

export class RunState {
  private readonly movementId: string;
  private wakeCount = 0;
  /** Number of open submits, and number of open cancel requests. */
  private submits = 0;
  private cancels = 0;
  private settledCount = 0;
  /** The workflow behaviour version that the load requires; see versions.ts. */
  private conduct = 0;
  /**
   * Number of proofs after which nodes that waited for a person at their fence (the last check
   * before a send) try again.
   */
  private proofs = 0;
  private lastState: LoadedMovement['state'] | null = null;
  private shown: Shown | null = null;
  /** The last signalled reason why the movement in `view` needs a person; null: none. */
  private shownReason: SignalledAttention = null;
  private view: LoadedMovement | null = null;
  /** How the run was signalled to leave its build; null: it was not. */
  private wayOut: WayToLeave | null = null;
  /** Keys of the nodes that this run is running. */
  private readonly running = new Set<string>();
  private loads = 0;
  /** True: a node ended with results that may be stale, so the run must load again. */
  private outdated = false;
  /** Nodes with which a running activity may continue. */
  private readonly carried = new Set<string>();
  /** Results of first phases, keyed by attempt. */
  private readonly firstResults = new Map<string, PhaseResult>();
  /** How nodes ended since the last load, by node key. */
  private readonly endings = new Map<string, NodeEnd>();
  /** Attempts that stopped at their fence (the last check before a send). */
  private readonly stoppedAttempts = new Set<string>();
  /** Nodes whose executors received a cancel request. */
  private readonly cancelRequested: Set<string>;
  /** Running checks of the outcome of UNKNOWN nodes, by node key. */
  private readonly openQuestions = new Map<string, CancellationScope>();

  constructor(movementId: string, handed: HandedOn) {
    this.movementId = movementId;
    this.cancelRequested = new Set(handed.asked);
  }

  /**
   * Number of wakes (signals to look again) so far. Until the next wake, the loaded view is
   * current.
   */
  get wakes(): number {
    return this.wakeCount;
  }

  /** Number of nodes that have ended so far. */
  get settled(): number {
    return this.settledCount;
  }

  get ends(): ReadonlyMap<string, NodeEnd> {
    return this.endings;
  }

  get stopped(): ReadonlySet<string> {
    return this.stoppedAttempts;
  }

  wake(): void {
    this.wakeCount += 1;
  }

  /** How the run leaves its build; null while it stays, as each run with a conduct below 2 does. */
  get leavesBy(): WayToLeave | null {
    return this.conduct >= 2 ? this.wayOut : null;
  }

  /** The run leaves its build as soon as {@link leaves} returns true. */
  leaveBuild(by: WayToLeave): void {
    this.wayOut = by;
  }

  /** Updates what this run remembers after the movement was loaded. */
  load(view: LoadedMovement): void {
    this.endings.clear();
    this.conduct = view.conduct ?? 0;
    if (this.conduct >= 2) takeTurns();
    // The loaded rows already contain the first results, and a node may have moved since.
    if (this.conduct >= 4) this.firstResults.clear();
    this.loads += 1;
    this.outdated = false;
    if (this.conduct >= 3 && view.woken === true) this.proofs += 1;
    this.follow(view);
    // A node that a database restore moved back no longer counts as stopped at its fence.
    for (const node of view.nodes) {
      if (node.state === 'BLOCKED' || node.recover_first)
        this.stoppedAttempts.delete(attemptOf(node));
    }
    this.callOff(view);
    this.tell(view, 'changed');
  }

  /**
   * Updates the run after a decision was written. `said`: the result of the first phases of the
   * node that the decision started.
   */
  write(view: LoadedMovement, begin: PhaseArgs | undefined, said: PhaseResult | undefined): void {
    if (begin !== undefined && said !== undefined) this.firstResults.set(attemptOf(begin), said);
    this.follow(view);
    this.tell(view, 'changed');
  }

  /** Returns the view with the decisions that were written when nodes ended. */
  advance(view: LoadedMovement): LoadedMovement {
    for (const { advance } of this.endings.values()) {
      if (advance?.decision.version === view.version)
        return this.advance(decided(view, advance.decision, advance.version));
    }
    return view;
  }

  /** Returns whether the database has a change that this view lacks; the run then loads again. */
  isBehind({ version }: LoadedMovement): boolean {
    const isAhead = ({ advance }: NodeEnd): boolean =>
      advance !== undefined && advance.version > version;
    return this.outdated || [...this.endings.values()].some(isAhead);
  }

  /**
   * Shows the view. A state that the same workflow task leaves again is not shown: no one could see
   * it, and showing costs an event and an index write.
   */
  tell(view: LoadedMovement, when: 'changed' | 'pausing'): void {
    // A reason for the earlier state does not apply to the new state.
    if (view.state !== this.view?.state || view.ended) this.shownReason = null;
    this.view = view;
    if (when === (view.conduct === undefined ? 'changed' : 'pausing'))
      this.shown = show(view, this.shownReason, this.shown);
  }

  /** Shows why a person is needed if the state does not show it; decides nothing. */
  needs(reason: SignalledAttention): void {
    // The history of an older worker does not contain the commands that this would add.
    if (this.view === null || this.shown === null || this.conduct < 3) return;
    this.shownReason = reason;
    this.shown = show(this.view, reason, this.shown);
  }

  isIdle(node: LoadedNode): boolean {
    return (
      !this.running.has(node.node_key) &&
      !this.carried.has(node.node_key) &&
      !this.stoppedAttempts.has(attemptOf(node))
    );
  }

  /** Starts the nodes that have to run and are not running yet. */
  start(view: LoadedMovement, keys: readonly string[]): void {
    for (const node of view.nodes) {
      if (keys.includes(node.node_key) && this.isIdle(node)) this.startNode(node);
    }
  }

  /**
   * Requests a cancel from the executors of nodes that are in flight when the movement is
   * cancelled, once for each node.
   */
  askToCancel(view: LoadedMovement): void {
    const lane = onCancelTargets(view.edges);
    for (const node of view.nodes) {
      const inFlight =
        node.state === 'SUBMITTED' || node.state === 'OBSERVING' || node.state === 'SUBMITTING';
      if (!inFlight || lane.has(node.node_key) || this.cancelRequested.has(node.node_key)) continue;
      if (!has('ask-executor-to-cancel')) return;
      this.cancelRequested.add(node.node_key);
      // The node is observed to its end anyway, so a failed request changes nothing.
      this.cancels += 1;
      askToCancel(node, {
        movement_id: view.movement_id,
        node_key: node.node_key,
        attempt: node.attempt,
      })
        .catch(() => undefined)
        .finally(() => (this.cancels -= 1));
    }
  }

  /** Checks the outcome of each UNKNOWN node; at most one check runs for each node. */
  askAboutUnknown(view: LoadedMovement): void {
    for (const node of view.nodes) {
      const { node_key } = node;
      const isQuiet =
        node.state === 'UNKNOWN' &&
        !this.running.has(node_key) &&
        !this.openQuestions.has(node_key);
      if (isQuiet && has('ask-about-unknown')) this.ask(node);
    }
  }

  /**
   * Returns whether the run ends now and another one follows: its history is long, or it leaves its
   * build. It does so whatever it waits for. The run first waits for work that the new run cannot
   * continue (a send or a cancel request), and for local calls whose results might arrive in the
   * same task.
   */
  leaves(): boolean {
    return this.isLeaving() && this.submits + this.cancels === 0 && turnIsFree();
  }

  /** Returns the same for a run that leaves its build. */
  leavesBuild(): boolean {
    return this.leavesBy !== null && this.leaves();
  }

  /**
   * Returns the same for histories with a conduct below 2, which continue only after a wake (a
   * signal to look again).
   */
  leavesOnceWoken(): boolean {
    return this.conduct < 2 && isTooLong(workflowInfo()) && this.submits === 0;
  }

  handedOn(): HandedOn {
    return { asked: [...this.cancelRequested] };
  }

  private isLeaving(): boolean {
    if (this.conduct < 2) return false;
    return this.wayOut !== null || isTooLong(workflowInfo());
  }

  /**
   * Returns whether a phase must wait for the next run. Otherwise nodes that start one phase after
   * another could delay the end of this run forever.
   */
  private readonly holds = (phase: Phase): boolean =>
    this.isLeaving() && (phase === 'submit' || this.submits + this.cancels === 0);

  /**
   * Counts a proof that ends MANUAL_INTERVENTION without a wake (a signal to look again). Nodes
   * that wait at their fences (the last check before a send) try again when this count grows.
   */
  private follow({ state }: LoadedMovement): void {
    if (this.conduct >= 2 && this.lastState === 'MANUAL_INTERVENTION' && state !== this.lastState)
      this.proofs += 1;
    this.lastState = state;
  }

  private startNode(node: LoadedNode): void {
    this.running.add(node.node_key);
    const since = this.loads + this.proofs;
    const run = runNode(
      node,
      {
        movementId: this.movementId,
        wakes: () => this.wakeCount + this.proofs,
        submitting: (by) => void (this.submits += by),
        holds: this.holds,
        course: (each, mayContinue) =>
          this.view === null ? {} : courseOf(this.view, each, mayContinue),
        carrying: (nodes, by) => {
          for (const { node_key } of nodes)
            if (by === 1) this.carried.add(node_key);
            else this.carried.delete(node_key);
        },
      },
      this.firstResults.get(attemptOf(node)),
    );
    this.firstResults.delete(attemptOf(node));
    void run.then((end) => {
      this.running.delete(node.node_key);
      if (end.stopped) this.stoppedAttempts.add(attemptOf(node));
      this.keep(end, this.loads + this.proofs === since);
      this.settle(node, end);
    });
  }

  private ask(node: LoadedNode): void {
    const scope = new CancellationScope();
    this.openQuestions.set(node.node_key, scope);
    void scope
      .run(() => askAboutUnknown(node, this.movementId, this.holds))
      .then((end) => {
        if (this.openQuestions.get(node.node_key) !== scope) return;
        this.openQuestions.delete(node.node_key);
        if (end !== null) this.settle(node, end);
      });
  }

  /** Cancels the outcome checks of nodes that are no longer UNKNOWN. */
  private callOff({ nodes }: LoadedMovement): void {
    for (const { node_key, state } of nodes) {
      const scope = state === 'UNKNOWN' ? undefined : this.openQuestions.get(node_key);
      if (scope === undefined) continue;
      this.openQuestions.delete(node_key);
      scope.cancel();
    }
  }

  /**
   * Stores the results of the nodes with which an activity continued. If the run has loaded since,
   * or a proof opened a fence, the results may be stale: the run loads again.
   */
  private keep({ carried = [] }: NodeEnd, isFresh: boolean): void {
    if (!isFresh && carried.length > 0) this.outdated = true;
    else for (const each of carried) this.firstResults.set(attemptOf(each), each.result);
  }

  private settle({ node_key }: LoadedNode, end: NodeEnd): void {
    this.endings.set(node_key, end);
    this.settledCount += 1;
  }
}
