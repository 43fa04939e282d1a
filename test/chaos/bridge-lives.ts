/** Movements across the bridges, and whether what is left of them adds up. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { BridgeSide, StackBridges } from '../../dev/stack/bridges.ts';
import { amountOf, fastFee, readBooks, unitsOf, type SideBooks } from '../support/bridge-books.ts';
import { burnAndMint } from '../support/bridge-plans.ts';
import { assertConsistent, type MovementView, type TimelineView } from '../support/evidence.ts';
import type { Caller } from './caller.ts';
import type { Dice } from './random.ts';

const WAYS = ['out', 'home'] as const;
const FINALITIES = ['fast', 'standard'] as const;

export interface BridgeLife {
  readonly key: string;
  readonly way: (typeof WAYS)[number];
  readonly finality: (typeof FINALITIES)[number];
  /** No other movement has it. */
  readonly amount: string;
  readonly approve_ms: number;
  movement_id: string | null;
  readonly complaints: string[];
}

/** What the run asks for, drawn before it begins. */
export function planCrossings(dice: Dice, count: number, seed: number): readonly BridgeLife[] {
  return Array.from({ length: count }, (_, serial) => ({
    key: `bridge-run-${seed}-${serial}`,
    way: dice.pick(WAYS),
    finality: dice.pick(FINALITIES),
    amount: `${dice.between(10, 99)}.${String(serial).padStart(5, '0')}1`,
    approve_ms: dice.between(0, 1_000),
    movement_id: null,
    complaints: [],
  }));
}

const templateOf = ({ way, finality }: Pick<BridgeLife, 'way' | 'finality'>): string =>
  `bridge-run/${way}-${finality}`;

/** Plans both ways without an allowance of their own: at once they would undo each other's. */
export function crossingTemplates({ near, far }: StackBridges, recipient: string) {
  return WAYS.flatMap((way) =>
    FINALITIES.map((finality) =>
      burnAndMint({
        ...{ key: templateOf({ way, finality }), finality, recipient, allowed: true },
        ...(way === 'out' ? { from: near, to: far } : { from: far, to: near }),
      }),
    ),
  );
}

/** Creates and approves one; what becomes of it is seen at the end. */
export async function cross(
  life: BridgeLife,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<void> {
  const { template, amount, key } = { ...life, template: templateOf(life) };
  const { movement_id, hash } = await create(caller, { template, amount, key });
  life.movement_id = movement_id;
  await sleep(life.approve_ms, undefined, { signal });
  const complaint = await approve(caller, movement_id, hash);
  if (complaint !== null) life.complaints.push(complaint);
}

export async function create(
  caller: Caller,
  of: { readonly template: string; readonly amount: string; readonly key: string },
): Promise<{ readonly movement_id: string; readonly hash: string }> {
  const { status, body } = await caller.call('POST', '/movements', {
    headers: { 'idempotency-key': of.key },
    body: {
      ...{ template_key: of.template, template_version: 1, strategy_id: 'bridge-run' },
      intent: { asset: 'USDB', amount: of.amount },
    },
  });
  if (status !== 201 && status !== 200)
    throw new Error(`create ${of.key} answered ${status}: ${JSON.stringify(body)}`);
  return { movement_id: String(body['movement_id']), hash: String(body['compiled_plan_hash']) };
}

/** Null, or what the service should not have answered. */
export async function approve(
  caller: Caller,
  movementId: string,
  hash: string,
): Promise<string | null> {
  const { status, body, doubts } = await caller.call('POST', `/movements/${movementId}/approve`, {
    body: { compiled_plan_hash: hash, approver_id: 'bridge-run' },
  });
  // Refused after a try whose answer was lost: that one was accepted.
  const before = status === 409 && doubts > 0;
  return status === 200 || before ? null : `approve answered ${status} ${JSON.stringify(body)}`;
}

/** Both chains at one time. */
export interface Books {
  readonly near: SideBooks & { readonly received: bigint; readonly left: bigint };
  readonly far: SideBooks & { readonly received: bigint; readonly left: bigint };
}

/** `left` of what the signer allows. */
export async function openBooks(
  { near, far }: StackBridges,
  { recipient, signer }: { readonly recipient: Hex; readonly signer: Hex },
): Promise<Books> {
  const of = async (side: BridgeSide) => {
    const books = await readBooks(side);
    const [received, left] = await Promise.all([books.held(recipient), books.allowed(signer)]);
    return { ...books, received, left };
  };
  return { near: await of(near), far: await of(far) };
}

/** What the service says of a movement at the end. */
export interface Told {
  readonly movement: MovementView;
  readonly timeline: readonly TimelineView[];
}

/** Everything that does not add up, in words. */
export function bridgeContradictions(
  lives: readonly BridgeLife[],
  told: ReadonlyMap<string, Told>,
  before: Books,
  after: Books,
): readonly string[] {
  const sum = ({ near, far }: Books): bigint => near.supply + far.supply;
  const lost = sum(before) - sum(after);
  return [
    ...lives.flatMap((life) => [
      ...life.complaints.map((each) => `${life.key}: ${each}`),
      ...storyOf(life, told.get(life.movement_id ?? '')),
    ]),
    ...(lost === 0n ? [] : [`supply: ${amountOf(sum(before))} became ${amountOf(sum(after))}`]),
    ...WAYS.flatMap((way) => wayAddsUp(way, lives, before, after)),
  ];
}

function storyOf({ key }: BridgeLife, told: Told | undefined): readonly string[] {
  if (told === undefined) return [`${key}: there is no movement`];
  const { movement, timeline } = told;
  const found: string[] = [];
  if (movement.request_state !== 'COMPLETED')
    found.push(
      `${key}: it is ${movement.request_state} (${movement.nodes.map((node) => `${node.node_key} ${node.state} ${node.error_code ?? ''}`).join(', ')})`,
    );
  try {
    assertConsistent(movement, timeline);
  } catch (error) {
    found.push(`${key}: ${String(error)}`);
  }
  return found;
}

/** One burn and one mint for each movement, nothing else, and balances that say the same. */
function wayAddsUp(
  way: BridgeLife['way'],
  all: readonly BridgeLife[],
  before: Books,
  after: Books,
): readonly string[] {
  const [source, destination] =
    way === 'out' ? (['near', 'far'] as const) : (['far', 'near'] as const);
  const lives = all.filter((life) => life.way === way);
  const burns = after[source].burns.slice(before[source].burns.length);
  const mints = after[destination].mints.slice(before[destination].mints.length);
  const found: string[] = [];
  const feeOf = ({ amount, finality }: BridgeLife): bigint =>
    finality === 'fast' ? fastFee(unitsOf(amount)) : 0n;
  for (const life of lives) {
    const units = unitsOf(life.amount);
    const burnt = burns.filter(({ amount }) => amount === units).length;
    const minted = mints.filter(
      ({ amount, fee }) => amount + fee === units && fee === feeOf(life),
    ).length;
    if (burnt !== 1) found.push(`${life.key}: ${burnt} burns of ${life.amount}`);
    if (minted !== 1) found.push(`${life.key}: ${minted} mints of ${life.amount}`);
  }
  const expect = (what: string, is: bigint, wanted: bigint): void => {
    if (is !== wanted) found.push(`${way}: ${what} ${amountOf(is)}, and not ${amountOf(wanted)}`);
  };
  const total = lives.reduce((units, { amount }) => units + unitsOf(amount), 0n);
  const fees = lives.reduce((units, life) => units + feeOf(life), 0n);
  if (burns.length !== lives.length) found.push(`${way}: ${burns.length} burns`);
  if (mints.length !== lives.length) found.push(`${way}: ${mints.length} mints`);
  const [from, to] = [after[source], after[destination]];
  const [was, had] = [before[source], before[destination]];
  expect('the recipient got', to.received - had.received, total - fees);
  expect('the fee collector got', to.collected - had.collected, fees);
  expect('of the allowance were drawn', was.left - from.left, total);
  return found;
}
