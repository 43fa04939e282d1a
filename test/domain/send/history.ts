/**
 * A history of one key: processes that read, send, look, sleep and die, over one world and caller.
 */
import { deadlineOf, leftToSend, type Moment } from '../../../domain/send/window.ts';
import { callerOf, type Answer, type Caller, type Row, type Seen, type Stand } from './callers.ts';
import { World, type Contract, type Fence } from './model.ts';

/**
 * One thing that happens. Of several processes at the same point `which` selects one; without any,
 * nothing happens.
 */
export type Step =
  | { readonly do: 'pass'; readonly ms: number }
  /** The machine of the senders is suspended; the database goes on. */
  | { readonly do: 'sleep'; readonly ms: number }
  /**
   * Reads the row on the way to the fence, under an epoch that a process may send with; 0 is the
   * latest.
   */
  | { readonly do: 'read'; readonly which: number }
  | { readonly do: 'fence'; readonly which: number; readonly slow_ms: number }
  /**
   * `lasts`: the part of the time left that the call takes; `shows`: the part of the settle time
   * until it is seen.
   */
  | {
      readonly do: 'send';
      readonly which: number;
      readonly lands: boolean;
      readonly lasts: number;
      readonly shows: number;
    }
  | { readonly do: 'answer'; readonly which: number; readonly answer: Answer }
  | { readonly do: 'look' }
  /** `blind`: an index that lags shows nothing of what was accepted. */
  | {
      readonly do: 'ask';
      readonly which: number;
      readonly sees: 'accepted' | 'completed' | 'silence';
      readonly blind: boolean;
    }
  | { readonly do: 'write'; readonly which: number }
  | { readonly do: 'crash'; readonly which: number }
  | { readonly do: 'retry' };

interface Process {
  at: 'read' | 'fenced' | 'sent' | 'looking' | 'answered';
  readonly row: Row;
  readonly read_at: number;
  readonly fence?: Fence;
  readonly deadline?: Moment;
  readonly ends_at?: number;
  readonly seen?: Seen;
}

/** The sender's monotonic clock has no epoch in common with the database's. */
const SENDERS_CLOCK = -900_000;
/** The sender's wall clock need not agree with the database's. */
const SENDERS_WALL = 40_000;

export class History {
  readonly world: World;
  readonly caller: Caller;
  private processes: Process[] = [];
  /** Epochs under which a process may send. */
  private epochs: number[] = [0];
  /** How long the machine of the senders was suspended, in milliseconds. */
  private slept = 0;

  constructor(contract: Contract) {
    this.world = new World(contract);
    this.caller = callerOf(this.world);
  }

  take(step: Step): void {
    const { world, caller } = this;
    switch (step.do) {
      case 'pass':
        world.now += step.ms;
        return;
      case 'sleep':
        world.now += step.ms;
        this.slept += step.ms;
        return;
      case 'read': {
        const epoch = this.epochs.at(-1 - (step.which % this.epochs.length)) ?? 0;
        const row = caller.read();
        if (caller.wouldSend(row, epoch))
          this.processes.push({ at: 'read', row, read_at: world.now });
        return;
      }
      case 'fence':
        return this.next('read', step.which, ({ row, read_at }) => {
          const deadline = deadlineOf(this.moment(), caller.window());
          world.now += step.slow_ms;
          const fenced = caller.fence(row);
          return fenced === null
            ? null
            : { at: 'fenced', row: fenced, read_at, fence: world.passed(), deadline };
        });
      case 'send':
        return this.next('fenced', step.which, (process) => {
          const { deadline, fence } = process;
          if (deadline === undefined || fence === undefined) return null;
          const left = leftToSend(deadline, this.moment());
          if (left === null) return null;
          const ends_at = world.now + Math.floor((left - 1) * step.lasts);
          const shows_at = step.lands
            ? ends_at + Math.floor(world.contract.settle_seconds * 1000 * step.shows)
            : null;
          world.sendsNow(fence, process.read_at, shows_at);
          return { ...process, at: 'sent', ends_at };
        });
      case 'answer':
        return this.next('sent', step.which, (process) => this.answer(process, step.answer));
      case 'look': {
        const wasSending = caller.stand() === 'sending';
        const row = caller.begin();
        if (wasSending && row !== null) world.takenOver();
        if (row !== null) this.processes.push({ at: 'looking', row, read_at: world.now });
        return;
      }
      case 'ask':
        return this.next('looking', step.which, (process) => {
          const seen =
            step.sees === 'silence'
              ? 'silence'
              : world.isSeen() && !(step.blind && world.accepted)
                ? step.sees
                : 'nothing';
          return { ...process, at: 'answered', seen };
        });
      case 'write':
        return this.next('answered', step.which, ({ row, seen = 'nothing' }) => {
          if (caller.found(row, seen)) this.epochs.push(row.epoch);
          this.note();
          return null;
        });
      case 'crash':
        this.processes.splice(step.which % Math.max(1, this.processes.length), 1);
        return;
      case 'retry':
        if (caller.stand() === 'person' && caller.retry()) world.word = true;
    }
  }

  /**
   * Once everybody who was at work is gone, the runs that follow come to an end, or to a person who
   * can decide.
   */
  ends(): Stand {
    const { world, caller } = this;
    this.processes = [];
    for (let turn = 0; turn < 100 && !['completed', 'failed'].includes(caller.stand()); turn += 1) {
      this.take({ do: 'pass', ms: 7_000 });
      if (caller.stand() === 'unsent') {
        this.take({ do: 'read', which: 0 });
        this.take({ do: 'fence', which: 0, slow_ms: 5 });
        this.take({ do: 'send', which: 0, lands: true, lasts: 0, shows: 1 });
        this.take({ do: 'answer', which: 0, answer: 'accepted' });
        continue;
      }
      // A retry is a person's way on, where the key is safe.
      if (world.contract.same_key_safe) this.take({ do: 'retry' });
      const before = this.epochs.length;
      if (caller.stand() === 'accepted' && world.contract.caller === 'node') {
        // What is accepted is observed until it has arrived.
        caller.found(caller.read(), 'completed');
        continue;
      }
      this.take({ do: 'look' });
      this.take({ do: 'ask', which: 0, sees: 'completed', blind: false });
      this.take({ do: 'write', which: 0 });
      if (this.epochs.length === before || world.contract.caller === 'node') continue;
      this.take({ do: 'read', which: 0 });
      this.take({ do: 'fence', which: 0, slow_ms: 5 });
      this.take({ do: 'send', which: 0, lands: false, lasts: 0, shows: 0 });
      this.processes = [];
    }
    return caller.stand();
  }

  /** What a person may say of it has to be possible to know. */
  judge(): void {
    const { world, caller } = this;
    if (!caller.mayBeSaidToHaveFailed()) return;
    const mayShow = world.contract.settle_seconds * 1000;
    const over = world.fences.every(
      ({ over_at }) => world.now >= over_at + mayShow || this.isProven(),
    );
    world.must(over, 'a person says that it failed while it may still land');
  }

  /**
   * Nothing is under way of a node that waits to be sent: what was sent before is proven not to
   * have landed.
   */
  private isProven(): boolean {
    return this.caller.stand() === 'unsent';
  }

  private moment(): Moment {
    const { now } = this.world;
    return { monotonic_ms: now - this.slept + SENDERS_CLOCK, wall_ms: now + SENDERS_WALL };
  }

  private answer(process: Process, answer: Answer): Process | null {
    const { world, caller } = this;
    const { fence, row, ends_at = 0 } = process;
    const landed = fence?.shows_at !== null;
    // A transfer is sent by a module of the process, whose call ends before anything is known of
    // it.
    if (fence === undefined || (world.contract.caller === 'transfer' && world.now < ends_at))
      return process;
    const possible: Answer =
      answer === 'lost' || landed !== (answer === 'failed')
        ? answer
        : landed
          ? 'accepted'
          : 'failed';
    // A refusal is the venue's own word that nothing of it was moved and nothing will be.
    if (possible === 'failed') world.refused(fence);
    const taken = caller.answer(row, possible);
    world.must(!taken || !fence.taken_over, 'who was taken over from writes nothing');
    if (taken && possible === 'lost') fence.over_at = Math.min(fence.over_at, world.now);
    if (taken && possible === 'accepted')
      world.must(caller.knowsAccepted(), 'that it was accepted is noted');
    this.note();
    return null;
  }

  private note(): void {
    if (this.caller.knowsAccepted() && !this.world.accepted) this.world.shown();
    else if (this.caller.stand() === 'accepted') this.world.shown();
  }

  private next(at: Process['at'], which: number, work: (process: Process) => Process | null): void {
    const there = this.processes.filter((process) => process.at === at);
    const process = there[which % Math.max(1, there.length)];
    if (process === undefined) return;
    this.processes.splice(this.processes.indexOf(process), 1);
    const after = work(process);
    if (after !== null) this.processes.push(after);
  }
}
