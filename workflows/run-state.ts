/**
 * What one run of a movement remembers between its loads, and how that may change: each method is
 * one move. Nothing in here is awaited, so the order of a run's commands is the order in which the
 * loop of `movement.ts` makes the moves.
 */
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { SignalledAttention } from '../domain/attention-reasons.ts';
import { attemptOf, decided } from '../domain/decision.ts';
import { onCancelTargets } from '../domain/graph/edges.ts';
import type {
  LoadedMovement,
  LoadedNode,
  Phase,
  PhaseArgs,
  PhaseResult,
} from '../domain/messages.ts';
import { show, type Shown } from './details.ts';
import { takeTurns, turnIsFree } from './local-activities.ts';
import { askAboutUnknown, runNode, type NodeEnd } from './node.ts';
import { askToCancel } from './phases.ts';
import { has } from './versions.ts';
import { courseOf } from './course.ts';

/** What a run tells the one that follows it: what no load knows. */
export interface HandedOn {
  /** Nodes whose executors were asked to cancel. */
  readonly asked: readonly string[];
}

export class RunState {
  private readonly movementId: string;
  private wakeCount = 0;
  /** Submits, and requests to cancel, that are under way. */
  private submits = 0;
  private cancels = 0;
  private settledCount = 0;
  /** The conduct that the load asks for; see versions.ts. */
  private conduct = 0;
  /** How often fences that were closed for a person's sake were opened by proof. */
  private opened = 0;
  private known: LoadedMovement['state'] | null = null;
  private shown: Shown | null = null;
  /** What was told last of why a person is needed, and of which view of the movement. */
  private told: SignalledAttention = null;
  private view: LoadedMovement | null = null;
  /** Nodes at work. */
  private readonly running = new Set<string>();
  private loads = 0;
  /** Something was told that was no longer to be believed. */
  private outdated = false;
  /** Nodes that an activity under way may go on to. */
  private readonly carried = new Set<string>();
  /** What first phases have said already, by attempt. */
  private readonly begun = new Map<string, PhaseResult>();
  /** How nodes ended since the last load. */
  private readonly endings = new Map<string, NodeEnd>();
  /** Attempts that were stopped at their fence. */
  private readonly stoppedAttempts = new Set<string>();
  /** Nodes whose executors were asked to cancel. */
  private readonly asked: Set<string>;
  /** Questions about UNKNOWN nodes that are under way. */
  private readonly asking = new Map<string, CancellationScope>();

  constructor(movementId: string, handed: HandedOn) {
    this.movementId = movementId;
    this.asked = new Set(handed.asked);
  }

  /** Wakes so far: as long as none is added, what was loaded is all there is to know. */
  get wakes(): number {
    return this.wakeCount;
  }

  /** Nodes that came to an end so far. */
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

  /** The movement was loaded: what this run remembers is brought in line with it. */
  load(view: LoadedMovement): void {
    this.endings.clear();
    this.conduct = view.conduct ?? 0;
    if (this.conduct >= 2) takeTurns();
    // Whatever was begun is recorded, and a node may have been moved since it was told.
    if (this.conduct >= 4) this.begun.clear();
    this.loads += 1;
    this.outdated = false;
    if (this.conduct >= 3 && view.woken === true) this.opened += 1;
    this.follow(view);
    // A node that the database has put back (a restore) is not one whose lane is closed.
    for (const node of view.nodes) {
      if (node.state === 'BLOCKED' || node.recover_first)
        this.stoppedAttempts.delete(attemptOf(node));
    }
    this.callOff(view);
    this.tell(view, 'changed');
  }

  /**
   * A decision was written; `said`: what the first phases of the node that it began have come to.
   */
  write(view: LoadedMovement, begin: PhaseArgs | undefined, said: PhaseResult | undefined): void {
    if (begin !== undefined && said !== undefined) this.begun.set(attemptOf(begin), said);
    this.follow(view);
    this.tell(view, 'changed');
  }

  /** The view with the decisions that were written with the ends of nodes. */
  advance(view: LoadedMovement): LoadedMovement {
    for (const { advance } of this.endings.values()) {
      if (advance?.decision.version === view.version)
        return this.advance(decided(view, advance.decision, advance.version));
    }
    return view;
  }

  /** Whether something was written that this view cannot have: the run has to load. */
  isBehind({ version }: LoadedMovement): boolean {
    const isAhead = ({ advance }: NodeEnd): boolean =>
      advance !== undefined && advance.version > version;
    return this.outdated || [...this.endings.values()].some(isAhead);
  }

  /**
   * Shows the view. What nobody can see is not shown: a state that the same task leaves again costs
   * an event and an index write.
   */
  tell(view: LoadedMovement, when: 'changed' | 'pausing'): void {
    // What was told of another state is not true of this one.
    if (view.state !== this.view?.state || view.ended) this.told = null;
    this.view = view;
    if (when === (view.conduct === undefined ? 'changed' : 'pausing'))
      this.shown = show(view, this.told, this.shown);
  }

  /** Shows why a person is needed where the state does not say so; decides nothing. */
  needs(told: SignalledAttention): void {
    // A run that an older worker may have conducted has a history without what this would write.
    if (this.view === null || this.shown === null || this.conduct < 3) return;
    this.told = told;
    this.shown = show(this.view, told, this.shown);
  }

  isIdle(node: LoadedNode): boolean {
    return (
      !this.running.has(node.node_key) &&
      !this.carried.has(node.node_key) &&
      !this.stoppedAttempts.has(attemptOf(node))
    );
  }

  /** Begins what is to run and is not at work yet. */
  start(view: LoadedMovement, keys: readonly string[]): void {
    for (const node of view.nodes) {
      if (keys.includes(node.node_key) && this.isIdle(node)) this.startNode(node);
    }
  }

  /** Asks the executors of nodes that were in flight when the movement was cancelled, each once. */
  askToCancel(view: LoadedMovement): void {
    const lane = onCancelTargets(view.edges);
    for (const node of view.nodes) {
      const inFlight =
        node.state === 'SUBMITTED' || node.state === 'OBSERVING' || node.state === 'SUBMITTING';
      if (!inFlight || lane.has(node.node_key) || this.asked.has(node.node_key)) continue;
      if (!has('ask-executor-to-cancel')) return;
      this.asked.add(node.node_key);
      // What becomes of it is seen where it is observed; a request that fails changes nothing.
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

  /** Asks about UNKNOWN nodes, each by one question at a time. */
  askAboutUnknown(view: LoadedMovement): void {
    for (const node of view.nodes) {
      const { node_key } = node;
      const isQuiet =
        node.state === 'UNKNOWN' && !this.running.has(node_key) && !this.asking.has(node_key);
      if (isQuiet && has('ask-about-unknown')) this.ask(node);
    }
  }

  /**
   * A history that has become long is for another run to go on from, whatever this one waits for;
   * only what nobody could take up again, a send or a request to cancel, is waited for, and what
   * might answer in the same task.
   */
  leaves(): boolean {
    return this.isLeaving() && this.submits + this.cancels === 0 && turnIsFree();
  }

  /**
   * The same for histories of before conduct 2, which go on only after something has woken them.
   */
  leavesOnceWoken(): boolean {
    return this.conduct < 2 && workflowInfo().continueAsNewSuggested && this.submits === 0;
  }

  handedOn(): HandedOn {
    return { asked: [...this.asked] };
  }

  private isLeaving(): boolean {
    return this.conduct >= 2 && workflowInfo().continueAsNewSuggested;
  }

  /** Nodes that are asked about in turn, or send in turn, could put the end off for ever. */
  private readonly holds = (phase: Phase): boolean =>
    this.isLeaving() && (phase === 'submit' || this.submits + this.cancels === 0);

  /**
   * Proof moves a movement out of a person's hands without a wake, and nodes wait at their fences
   * for that.
   */
  private follow({ state }: LoadedMovement): void {
    if (this.conduct >= 2 && this.known === 'MANUAL_INTERVENTION' && state !== this.known)
      this.opened += 1;
    this.known = state;
  }

  private startNode(node: LoadedNode): void {
    this.running.add(node.node_key);
    const since = this.loads + this.opened;
    const run = runNode(
      node,
      {
        movementId: this.movementId,
        wakes: () => this.wakeCount + this.opened,
        submitting: (by) => void (this.submits += by),
        holds: this.holds,
        course: (each, goesOn) => (this.view === null ? {} : courseOf(this.view, each, goesOn)),
        carrying: (nodes, by) => {
          for (const { node_key } of nodes)
            if (by === 1) this.carried.add(node_key);
            else this.carried.delete(node_key);
        },
      },
      this.begun.get(attemptOf(node)),
    );
    this.begun.delete(attemptOf(node));
    void run.then((end) => {
      this.running.delete(node.node_key);
      if (end.stopped) this.stoppedAttempts.add(attemptOf(node));
      this.keep(end, this.loads + this.opened === since);
      this.settle(node, end);
    });
  }

  private ask(node: LoadedNode): void {
    const scope = new CancellationScope();
    this.asking.set(node.node_key, scope);
    void scope
      .run(() => askAboutUnknown(node, this.movementId, this.holds))
      .then((end) => {
        if (this.asking.get(node.node_key) !== scope) return;
        this.asking.delete(node.node_key);
        if (end !== null) this.settle(node, end);
      });
  }

  /** Calls off the questions that nobody needs an answer to any more. */
  private callOff({ nodes }: LoadedMovement): void {
    for (const { node_key, state } of nodes) {
      const scope = state === 'UNKNOWN' ? undefined : this.asking.get(node_key);
      if (scope === undefined) continue;
      this.asking.delete(node_key);
      scope.cancel();
    }
  }

  /**
   * What came of the nodes that an activity went on to. Where the run has looked since, or a closed
   * fence was opened, an answer of before may be true no longer: the run looks once more.
   */
  private keep({ carried = [] }: NodeEnd, isFresh: boolean): void {
    if (!isFresh && carried.length > 0) this.outdated = true;
    else for (const each of carried) this.begun.set(attemptOf(each), each.result);
  }

  private settle({ node_key }: LoadedNode, end: NodeEnd): void {
    this.endings.set(node_key, end);
    this.settledCount += 1;
  }
}
