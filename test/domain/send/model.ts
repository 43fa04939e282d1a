/**
 * What the contract says of one key that is sent, in words of its own: nothing here comes from the
 * product. The world records what really lands and when, which no process sees, and throws when a
 * send or an end breaks the contract. Times are milliseconds, but for the contract's own numbers,
 * which are seconds.
 */

export interface Venue {
  /** A repeat of the same key has no second effect. */
  readonly same_key_safe: boolean;
  /** How long after a send its effect may still come to be seen. */
  readonly settle_seconds: number;
  /** The longest that one call takes. */
  readonly timeout_seconds: number;
}

export interface Contract extends Venue {
  readonly caller: 'node' | 'transfer';
  /** Only a node's executor may poll a queue, from which its call is taken within ten seconds. */
  readonly queued: boolean;
  /** Sends that may be lost, each proven, before it fails. */
  readonly most_sends: number;
  /** A transfer: so long after the first wait nothing is sent. */
  readonly pending_seconds: number;
  /** A node: after so long an accepted send is late, or one that was never accepted a time-out. */
  readonly observe_seconds: number | undefined;
}

/**
 * One passing of the fence. From then on something of it may land, until it is over and the venue
 * has settled.
 */
export interface Fence {
  readonly at: number;
  /** When nothing of it is under way; earlier once its sender has said so. */
  over_at: number;
  sent: boolean;
  /** Its outcome is being looked up, so its sender can no longer write. */
  taken_over: boolean;
  /** When its effect is to be seen; null when it has none. */
  shows_at: number | null;
}

const WAIT_IN_QUEUE_SECONDS = 10;
/** Part 7, and decision 0022: a transfer is sent five times at most. */
const MOST_SENDS_OF_TRANSFERS = 5;

export class World {
  now = 1_000_000;
  readonly fences: Fence[] = [];
  /** The venue has shown or said that it has it. */
  accepted = false;
  /** A person has said that it may be sent again. */
  word = false;
  private sends = 0;
  private waitsSince: number | null = null;

  readonly contract: Contract;
  constructor(contract: Contract) {
    this.contract = contract;
  }

  /** The fence is written now. */
  passed(): Fence {
    const { timeout_seconds, queued } = this.contract;
    const seconds = timeout_seconds + (queued ? WAIT_IN_QUEUE_SECONDS : 0);
    const fence = {
      at: this.now,
      over_at: this.now + seconds * 1000,
      sent: false,
      taken_over: false,
      shows_at: null,
    };
    this.fences.push(fence);
    return fence;
  }

  /** A transfer is first waited for. */
  waits(): void {
    this.waitsSince ??= this.now;
  }

  /** `fence` sends now, decided upon at `decided`, and has its effect, if any, at `shows_at`. */
  sendsNow(fence: Fence, decided: number, shows_at: number | null): void {
    const { same_key_safe, caller, most_sends, pending_seconds } = this.contract;
    const others = this.fences.filter((each) => each !== fence);
    this.must(this.now <= fence.over_at, 'nothing is sent after its window');
    this.must(!others.some((other) => this.mayStillLand(other)), 'two sends may land');
    this.must(same_key_safe || others.length === 0, 'an unsafe key is sent once');
    this.must(!this.accepted || this.word, 'what was accepted is not sent again by itself');
    this.must(this.word || !this.hasLanded(), 'what has landed is not sent again');
    this.sends = this.word ? 1 : this.sends + 1;
    this.must(
      this.sends <= (caller === 'node' ? most_sends : MOST_SENDS_OF_TRANSFERS),
      'sent too often',
    );
    const late = this.waitsSince !== null && decided >= this.waitsSince + pending_seconds * 1000;
    this.must(
      caller === 'node' || fence === this.fences[0] || !late,
      'a transfer is not sent again when a person should decide',
    );
    this.word = false;
    fence.sent = true;
    fence.shows_at = shows_at;
  }

  /** Somebody begins to ask what became of what is under way. */
  takenOver(): void {
    for (const fence of this.fences) fence.taken_over = true;
  }

  /** The venue has refused it. */
  refused(fence: Fence): void {
    fence.over_at = -Infinity;
  }

  /** It is said to have failed: proven that nothing was moved, and that nothing will be. */
  failed(): void {
    this.must(!this.hasLanded(), 'what has landed has not failed');
    this.must(
      !this.fences.some((each) => this.mayStillLand(each)),
      'what may land has not failed yet',
    );
  }

  /** It is said to be done. */
  completed(): void {
    this.must(this.hasLanded(), 'what has not landed is not done');
  }

  /** The venue shows the transfer: an earlier statement of a person no longer applies. */
  shown(): void {
    this.accepted = true;
    this.word = false;
  }

  /** What whoever asks the venue now is shown. */
  isSeen(): boolean {
    return this.fences.some(({ shows_at }) => shows_at !== null && shows_at <= this.now);
  }

  hasLanded(): boolean {
    return this.fences.some(({ shows_at }) => shows_at !== null);
  }

  /** As far as anybody can know who does not see the venue's inside. */
  mayStillLand({ over_at }: Fence): boolean {
    return this.now < over_at + this.contract.settle_seconds * 1000;
  }

  must(holds: boolean, rule: string): void {
    if (!holds) throw new Error(rule);
  }
}
