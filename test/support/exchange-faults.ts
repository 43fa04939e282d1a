/**
 * Twenty movements out of a local exchange through real processes: the exchange loses answers,
 * shows records late, limits, restarts and changes its mind, and the worker is killed, also right
 * after the exchange has paid. What is true at the end is read from the exchange's books.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sendingDescriptor } from '../../venues/cex/descriptor.ts';
import { dice as diceOf, type Dice } from '../chaos/random.ts';
import type { Books, Withdrawal } from '../venues/cex/support/books.ts';
import type { Desk } from '../venues/cex/support/desk.ts';
import type { FaultKind } from '../venues/cex/support/misbehaviour.ts';
import { add, compare, subtract, total } from './amounts.ts';
import { assertConsistent, type MovementView } from './evidence.ts';
import { eventually } from './eventually.ts';
import { dialectOf, FUNDS, PAYEES, type ExchangeStack } from './exchange-stack.ts';
import type { OwnStack } from './own-stack.ts';

/** Each of them strikes two requests to withdraw. `done_then_…`: paid, and the answer is lost. */
const KINDS = [
  'done_then_hangup',
  'done_then_500',
  'done_then_restart',
  'late',
  'clock_off',
  'suspended_between',
  'address_removed',
  'rate_limited',
  'restart',
] as const satisfies readonly FaultKind[];
const ROUNDS = 2;
/** Kinds in spite of which the exchange pays. */
const PAYING: readonly FaultKind[] = [
  'done_then_hangup',
  'done_then_500',
  'done_then_restart',
  'late',
];
/** Each of them strikes one look at the terms, and one at the history of withdrawals. */
const OF_LOOKS = ['rate_limited', 'error_500', 'hangup', 'malformed'] as const;

/** How many requests to withdraw the faults strike. */
export const STRUCK = KINDS.length * ROUNDS;
/** How many withdrawals these faults alone leave paid, at least. */
export const LEAST_PAID = PAYING.length * ROUNDS;

const BURSTS = 4;
const IN_A_BURST = 5;
/** More movements follow the first twenty only until every fault has struck. */
const MOST = 40;
/** How late histories show some records: less than {@link QUIET_SECONDS}. */
const LATE_MS = 3_000;
/**
 * How long after its fence a send may still appear. Minutes at a real exchange (`settle_seconds`);
 * the local one answers at once.
 */
const QUIET_SECONDS = 30;
const ENDED: readonly string[] = ['COMPLETED', 'FAILED'];

interface Moved {
  readonly id: string;
  readonly payee: string;
  /** No other movement has this amount. */
  readonly amount: string;
}

/** An UNKNOWN node as a person sees it, and what the exchange's books say of its amount. */
interface Doubt {
  readonly amount: string;
  readonly error_code: string | null;
  readonly error_message: string;
  /** The ids of the withdrawals of this amount. */
  readonly paid: readonly string[];
}

export interface Outcome {
  readonly moved: readonly Moved[];
  readonly ended: readonly MovementView[];
  readonly doubts: readonly Doubt[];
  /** Ids of the movements that the person has resolved. */
  readonly resolved: ReadonlySet<string>;
  readonly kills: { readonly drawn: number; readonly afterPaying: number };
  /** How many requests to withdraw arrived. */
  readonly sends: number;
}

/** Runs movements through all faults until each of them has ended. */
export async function runThroughFaults(
  bench: ExchangeStack,
  exchange: string,
  seed: number,
): Promise<Outcome> {
  const desk = bench.deskOf(exchange);
  const person = openPerson(bench.own, desk.exchange.books);
  const killer = openKiller(bench.own);
  await settleSooner(bench.own, desk);
  const kills = strike(desk, diceOf(seed, 'faults'), killer);
  const moved: Moved[] = [];
  const burst = async (): Promise<void> => {
    moved.push(...(await startBurst(bench, desk, moved.length)));
  };
  const drawn = await storm(desk, { dice: diceOf(seed, 'storm'), killer, burst });
  let ended = await Promise.all(moved.map(person.leads));
  // A worker that dies before its request leaves a fault over.
  while (sendsTo(desk) < STRUCK && moved.length < MOST) {
    await burst();
    ended = await Promise.all(moved.map(person.leads));
  }
  await killer.up();
  const { doubts, resolved } = person;
  const sends = sendsTo(desk);
  return { moved, ended, doubts, resolved, sends, kills: { drawn, afterPaying: kills() } };
}

interface Storm {
  readonly dice: Dice;
  readonly killer: Killer;
  /** Starts the next movements. */
  readonly burst: () => Promise<void>;
}

/** Starts the bursts, and kills the worker once in between; returns how often. */
async function storm(desk: Desk, { dice, killer, burst }: Storm): Promise<number> {
  const kinds = shuffled(OF_LOOKS, dice);
  for (let each = 0; each < BURSTS; each += 1) {
    strikeLooks(desk, kinds[each]);
    await burst();
    if (each === BURSTS - 1) break;
    await sleep(dice.between(300, 3_000));
    while (!killer.kill()) await killer.up();
  }
  return BURSTS - 1;
}

/** Returns each contradiction between the books, the movements and what the person read. */
export async function contradictions(
  { own, deskOf }: ExchangeStack,
  exchange: string,
  { moved, ended, doubts, resolved, sends }: Outcome,
): Promise<readonly string[]> {
  const { books, format } = deskOf(exchange).exchange;
  const found: string[] = [];
  for (const [index, movement] of ended.entries()) {
    const each = moved[index];
    if (each === undefined) throw new Error('a movement that was not started');
    found.push(...ofMovement(books, each, { movement, isResolved: resolved.has(each.id) }));
    assertConsistent(movement, await own.api.timeline(each.id));
  }
  const completed = ended.filter(({ request_state }) => request_state === 'COMPLETED').length;
  if (completed !== books.withdrawals.length)
    found.push(`${String(books.withdrawals.length)} were paid, ${String(completed)} are COMPLETED`);
  const left = subtract(FUNDS, total(books.withdrawals.map(grossOf)));
  if (compare(books.get(null, 'SPOT', 'USDC'), left) !== 0)
    found.push(`the account holds ${books.get(null, 'SPOT', 'USDC')} instead of ${left}`);
  if (sends > moved.length) found.push(`${String(sends)} requests for ${String(moved.length)}`);
  const isFoundById = dialectOf(format).search.by === 'client_id';
  return [...found, ...doubts.flatMap((doubt) => unexplained(doubt, isFoundById))];
}

function ofMovement(
  books: Books,
  { id, payee, amount }: Moved,
  { movement, isResolved }: { readonly movement: MovementView; readonly isResolved: boolean },
): readonly string[] {
  const paid = paidOf(books, amount);
  const [first] = paid;
  const [node] = movement.nodes;
  const which = `${id} of ${amount}`;
  const wanted = movement.request_state === 'COMPLETED' ? 1 : 0;
  if (paid.length !== wanted)
    return [`${which} is ${movement.request_state}, and was paid ${String(paid.length)} times`];
  if (first === undefined) return [];
  return [
    ...(first.address.toLowerCase() === payee.toLowerCase() ? [] : [`${which} went elsewhere`]),
    ...(isResolved || node?.external_ref === first.id ? [] : [`${which} has another record`]),
  ];
}

/** What is wrong with the words by which the service left an UNKNOWN node to a person. */
function unexplained(
  { amount, error_code, error_message, paid }: Doubt,
  isFoundById: boolean,
): readonly string[] {
  const [first] = paid;
  const words = `UNKNOWN of ${amount} (${String(error_code)}: ${error_message})`;
  if (!['RECOVERY_INCONCLUSIVE', 'WITHDRAWAL_AMBIGUOUS'].includes(String(error_code)))
    return [`${words} has another code`];
  if (first === undefined)
    return /\bno send (was|is) found\b/.test(error_message) ? [] : [`${words} does not say why`];
  // Where the exchange stores our id, what it shows within the time is found.
  if (isFoundById) return [`${words} was paid as ${first}`];
  return error_message.includes(first) ? [] : [`${words} does not name ${first}`];
}

const grossOf = ({ net_amount, fee }: Withdrawal): string => add(net_amount, fee);

const paidOf = ({ withdrawals }: Books, amount: string): readonly Withdrawal[] =>
  withdrawals.filter((each) => compare(grossOf(each), amount) === 0);

const sendsTo = ({ exchange: { requests, format } }: Desk): number =>
  requests.filter(({ method, path }) => method === 'POST' && path === format.paths.withdraw).length;

/**
 * Creates and approves movements at once. Sends to one payee wait for each other where the exchange
 * stores no id of ours, so there they go to several.
 */
async function startBurst(
  { pay }: ExchangeStack,
  { exchange: { format } }: Desk,
  serial: number,
): Promise<readonly Moved[]> {
  const payees = dialectOf(format).search.by === 'baseline' ? PAYEES : PAYEES.slice(0, 1);
  const planned = Array.from({ length: IN_A_BURST }, (_, index) => ({
    payee: payees[(serial + index) % payees.length] ?? '',
    amount: `${String(20 + serial + index)}.5`,
  }));
  return Promise.all(
    planned.map(async (each) => ({
      ...each,
      id: await pay(format.exchange, each.payee, each.amount),
    })),
  );
}

/**
 * From now on the requests to withdraw fail one after another, each kind twice in a drawn order.
 * What a fault has changed is mended once its request has been served; some records are shown late;
 * and twice the worker is killed before it gets the answer of a withdrawal that was paid. Returns
 * how often it was killed so by now.
 */
function strike({ exchange }: Desk, dice: Dice, killer: Killer): () => number {
  const { books, format } = exchange;
  const path = format.paths.withdraw;
  const book = books.book.map((each) => ({ ...each }));
  const killAt = [dice.between(1, 2), dice.between(4, 6)];
  let [paid, kills] = [0, 0];
  const served = (): void => {
    exchange.afterNext(path, served);
    books.book.splice(0, Infinity, ...book.map((each) => ({ ...each })));
    for (const terms of [...books.assets.values()].flat())
      terms.enabled = terms.network === format.books.networks.open;
    const last = books.withdrawals.at(-1);
    if (last === undefined || books.withdrawals.length === paid) return;
    paid = books.withdrawals.length;
    if (dice.chance(0.3)) last.visible_from = Math.max(last.visible_from, Date.now() + LATE_MS);
    if (paid >= (killAt[kills] ?? Infinity) && killer.kill()) kills += 1;
  };
  exchange.afterNext(path, served);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const kind of shuffled(KINDS, dice)) {
      const more = kind === 'late' ? { milliseconds: LATE_MS } : {};
      exchange.fail({ path, method: 'POST', kind, ...more });
    }
  return () => kills;
}

/** The next look at the terms and the next one at the history of withdrawals fail. */
function strikeLooks({ exchange }: Desk, kind: (typeof OF_LOOKS)[number] | undefined): void {
  const { terms, withdraw, withdrawals } = exchange.format.paths;
  if (kind === undefined) return;
  exchange.fail({ path: terms, kind });
  // A list may have the path of the sends.
  const more = withdrawals === withdraw ? { method: 'GET' as const } : {};
  exchange.fail({ path: withdrawals, kind, ...more });
}

interface Killer {
  /** Sends SIGKILL to the worker at once, and starts it again; false if it is not up. */
  kill(): boolean;
  /** Waits until the worker is up. */
  up(): Promise<void>;
}

function openKiller({ stack }: OwnStack): Killer {
  let isUp = true;
  let restart: Promise<void> = Promise.resolve();
  const again = async (): Promise<void> => {
    await stack.kill('worker', 'SIGKILL');
    await stack.startChild('worker');
    isUp = true;
  };
  return {
    kill() {
      if (!isUp) return false;
      isUp = false;
      restart = again();
      // Reported by `up`, which may be called much later.
      restart.catch(() => undefined);
      return true;
    },
    up: () => restart,
  };
}

interface Person {
  readonly doubts: readonly Doubt[];
  readonly resolved: ReadonlySet<string>;
  /** Waits for the end of the movement; resolves its node by the books where it is UNKNOWN. */
  leads(moved: Moved): Promise<MovementView>;
}

function openPerson({ api }: OwnStack, books: Books): Person {
  const [doubts, resolved] = [new Map<string, Doubt>(), new Set<string>()];
  const decide = async ({ id, amount }: Moved, { nodes: [node] }: MovementView): Promise<void> => {
    const paid = paidOf(books, amount).map((each) => each.id);
    const { error_code = null, error_message } = node ?? {};
    // What the service said first, before anyone has decided.
    if (!doubts.has(id))
      doubts.set(id, { amount, error_code, error_message: error_message ?? '', paid });
    const { status, body } = await api.send('POST', `/movements/${id}/nodes/out/actions/resolve`, {
      outcome: paid.length > 0 ? 'completed' : 'failed',
      reason: 'the books of the exchange',
      evidence: { withdrawals: paid },
    });
    if (status === 200) resolved.add(id);
    // 409: too early, or the service has found it meanwhile.
    else if (status !== 409) throw new Error(`${String(status)} ${JSON.stringify(body)}`);
  };
  return {
    get doubts() {
      return [...doubts.values()];
    },
    resolved,
    leads(moved) {
      let last = '';
      return eventually(
        async () => {
          const movement = await api.movement(moved.id);
          const [node] = movement.nodes;
          last = `${movement.request_state}, ${String(node?.state)} ${String(node?.error_code)}`;
          if (node?.state === 'UNKNOWN') await decide(moved, movement);
          return ENDED.includes(movement.request_state) ? movement : null;
        },
        { timeoutMs: 360_000, everyMs: 1_000, what: () => `${moved.id} to end; it is ${last}` },
      );
    },
  };
}

/**
 * From now on a send counts as over {@link QUIET_SECONDS} after its fence, and not after the
 * exchange's `settle_seconds`: a node that is not found is left to the person that much sooner.
 */
async function settleSooner({ query }: OwnStack, { exchange: { format } }: Desk): Promise<void> {
  const { settle_seconds, timeout_seconds } = sendingDescriptor('withdrawal', [
    dialectOf(format).withdrawals,
  ]);
  const sooner = settle_seconds + timeout_seconds - QUIET_SECONDS;
  await query(`CREATE FUNCTION test_settle_sooner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.send_not_after := NEW.send_not_after - make_interval(secs => ${String(sooner)});
    RETURN NEW; END $$`);
  await query(`CREATE TRIGGER test_settle_sooner BEFORE UPDATE ON movement_nodes FOR EACH ROW
    WHEN (NEW.send_not_after IS DISTINCT FROM OLD.send_not_after)
    EXECUTE FUNCTION test_settle_sooner()`);
}

function shuffled<T>(items: readonly T[], dice: Dice): readonly T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(dice.between(0, left.length - 1), 1));
}
