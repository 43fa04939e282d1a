/**
 * The one scheduler of a simulation. It owns the time and the order of everything that waits: a
 * statement, a call of an outside world, a timer, a report to Temporal. One step runs at a time, a
 * seed decides which, and between two steps the code of the service runs until all of it waits.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { dice, type Dice } from '../../chaos/random.ts';

/** A process of the service, or whatever else can stop by itself: callers, an outside world. */
export interface Process {
  readonly name: string;
  /** `frozen`: nothing of it runs, and it does not notice that time passes. */
  state: 'up' | 'frozen' | 'dead';
  /** What its clock is ahead of the true time, in milliseconds. */
  skewMs: number;
}

/** What waits for its turn. */
interface Waiting {
  readonly process: Process | null;
  readonly label: string;
  readonly isPossible?: () => boolean;
  readonly go: () => Promise<void>;
}

/** A step, and the movement for which code waits for it; null: none that is known. */
export interface Step extends Waiting {
  readonly movement_id: string | null;
}

export interface Timer {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly process: Process | null;
  readonly label: string;
  readonly go: () => void | Promise<void>;
  readonly movement_id?: string | null;
  cancelled: boolean;
}

/** The process whose code is running; undefined in the code of the simulation itself. */
export const inProcess = new AsyncLocalStorage<Process>();

// Taken before machine/seams.ts replaces what the service sees.
const turn = setImmediate;

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
/** After how many new timers those that are cancelled are removed. */
const SWEEP_EVERY = 500;
/** Turns of the event loop after which code that waits for nothing outside has come to its end. */
const TURNS = 3;
/** Milliseconds since 1970 at which every world begins. */
const BEGIN = Date.UTC(2030, 0, 1);
/** The longest that one step takes, in milliseconds. */
const LONGEST_STEP_MS = 4;
/** How often a timer goes before steps that could be made: those take long then. */
const SLOW = 0.004;

export class Machine {
  readonly dice: Dice;
  readonly #order: Dice;
  #now = BEGIN;
  #waiting: Step[] = [];
  /** The step that is under way. */
  #current: Step | null = null;
  #timers: Timer[] = [];
  #timersMade = 0;
  /** Callbacks of simulated processes that wait for a turn of the event loop. */
  #turning = 0;
  readonly #deaths = new Map<Process, number>();
  readonly #frozen = new Map<Process, number>();
  #steps = 0;
  readonly #digest = createHash('sha256');
  /** Called with each line of the log. */
  readonly #tell: (line: string) => void;
  readonly #lines: string[] = [];
  readonly #isInOrder: boolean;
  readonly #movement: () => string | null;

  /**
   * `isInOrder`: what waits longest goes first, so that nothing depends on the seed. `movement`:
   * which movement the calling code works for.
   */
  constructor(
    seed: number,
    tell: (line: string) => void = () => undefined,
    { isInOrder = false, movement = (): string | null => null } = {},
  ) {
    this.#isInOrder = isInOrder;
    this.#movement = movement;
    this.dice = dice(seed, 'faults');
    this.#order = dice(seed, 'order');
    this.#tell = tell;
  }

  /** The true time, in milliseconds since 1970. */
  get now(): number {
    return this.#now;
  }

  get begin(): number {
    return BEGIN;
  }

  get steps(): number {
    return this.#steps;
  }

  get current(): Step | null {
    return this.#current;
  }

  /** The movements that code of this process works for. */
  workOf(process: Process): readonly string[] {
    const of = [...this.#waiting, ...this.#timers.filter(({ cancelled }) => !cancelled)];
    return of.flatMap((each) =>
      each.process === process && each.movement_id != null ? [each.movement_id] : [],
    );
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The lines of the log that name the movement. */
  linesAbout(movementId: string | null): readonly string[] {
    return this.#lines.filter((line) => movementId !== null && line.includes(movementId));
  }

  /** What the whole log comes to; equal for equal runs. */
  digest(): string {
    return this.#digest.copy().digest('hex');
  }

  /** Adds to what the log comes to, and not to its lines: values, rows. */
  note(text: string): void {
    this.#digest.update(text);
  }

  log(line: string): void {
    const whole = `${String(this.#now - BEGIN)} ${line}`;
    this.#digest.update(`${whole}\n`);
    this.#lines.push(whole);
    this.#tell(whole);
  }

  /**
   * Waits for a turn and then does `work`, as the process whose code calls this. Never returns in a
   * process that has died.
   */
  step<T>(label: string, work: () => Promise<T>): Promise<T> {
    const process = inProcess.getStore() ?? null;
    return new Promise<T>((resolve, reject) => {
      this.post({
        process,
        label,
        go: async () => {
          try {
            const answer = await work();
            if (process?.state !== 'dead') resolve(answer);
          } catch (error) {
            if (process?.state !== 'dead')
              reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
      });
    });
  }

  /** Something that happens in its turn; no code waits for it. */
  post(waiting: Waiting): void {
    if (waiting.process?.state === 'dead') return;
    const movement_id = this.#movement() ?? ID.exec(waiting.label)?.[0] ?? null;
    this.#waiting.push({ ...waiting, movement_id });
  }

  /** Calls `go` at this time of the true clock. */
  timer(timer: Omit<Timer, 'cancelled'>): Timer {
    const entry: Timer = { ...timer, movement_id: this.#movement(), cancelled: false };
    let [low, high] = [0, this.#timers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#timers[middle]?.at ?? 0) <= entry.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, entry);
    this.#timersMade += 1;
    if (this.#timersMade % SWEEP_EVERY === 0)
      this.#timers = this.#timers.filter(({ cancelled }) => !cancelled);
    return entry;
  }

  /** Runs until `isOver` returns true. @throws when no step is possible. */
  async run(isOver: () => boolean): Promise<void> {
    for (;;) {
      await this.#settle();
      if (isOver()) return;
      await this.#next();
    }
  }

  /** Code waits for a turn of the event loop; call what is returned when it has had it. */
  turning(): () => void {
    this.#turning += 1;
    return () => (this.#turning -= 1);
  }

  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < TURNS; quiet = this.#turning > 0 ? 0 : quiet + 1)
      await new Promise<void>((resolve) => turn(resolve));
  }

  async #next(): Promise<void> {
    const ready = this.#waiting.filter(
      ({ process, isPossible }) =>
        (process === null || process.state === 'up') && isPossible?.() !== false,
    );
    const timer = this.#firstTimer();
    const isDue = timer !== undefined && timer.at <= this.#now;
    if (timer !== undefined && (isDue || ready.length === 0 || this.#isSlow())) {
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      this.#now = Math.max(this.#now, timer.at);
      this.note(`${String(this.#now)} ${timer.label}\n`);
      this.#current = null;
      await timer.go();
      return;
    }
    if (ready.length === 0) throw new Error('no step is possible: an await has leaked');
    const chosen = ready[this.#isInOrder ? 0 : this.#order.between(0, ready.length - 1)];
    if (chosen === undefined) throw new Error('nothing was chosen');
    this.#waiting.splice(this.#waiting.indexOf(chosen), 1);
    this.#now += this.#isInOrder ? 1 : this.#order.between(0, LONGEST_STEP_MS);
    this.#steps += 1;
    this.#current = chosen;
    this.log(`${chosen.process?.name ?? '-'} ${chosen.label}`);
    await chosen.go();
  }

  #isSlow(): boolean {
    return !this.#isInOrder && this.#order.chance(SLOW);
  }

  /** The next timer that can go; removes what is cancelled on the way to it. */
  #firstTimer(): Timer | undefined {
    for (let at = 0; ;) {
      const timer = this.#timers[at];
      if (timer === undefined) return undefined;
      const { cancelled, process } = timer;
      if (cancelled || process?.state === 'dead') this.#timers.splice(at, 1);
      else if (process === null || process.state === 'up') return timer;
      else at += 1;
    }
  }

  /** When the process died, in milliseconds since 1970; null while it lives. */
  diedAt(process: Process): number | null {
    return this.#deaths.get(process) ?? null;
  }

  /** When the process was frozen, in milliseconds since 1970; null while it is not. */
  frozenAt(process: Process): number | null {
    return this.#frozen.get(process) ?? null;
  }

  /** Nothing of the process goes on until it is thawed. */
  freeze(process: Process): void {
    process.state = 'frozen';
    this.#frozen.set(process, this.#now);
  }

  thaw(process: Process): void {
    process.state = 'up';
    this.#frozen.delete(process);
  }

  /** The process ends, with all that it was doing. */
  kill(process: Process): void {
    process.state = 'dead';
    this.#deaths.set(process, this.#now);
    this.#frozen.delete(process);
    this.#waiting = this.#waiting.filter((each) => each.process !== process);
  }
}
