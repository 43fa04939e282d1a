/** `fundctl smoke`: tests a venue with a small movement, from its creation to its end. */
import { command, type JsonSchema, type Leaf } from '../../command-line/command.ts';
import { CommandError, EXIT, usageError } from '../../command-line/exit.ts';
import { YES } from '../../command-line/operation.ts';
import { amount, required, text, whole } from '../../command-line/options.ts';
import { defined } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { state } from '../../command-line/view.ts';
import { failure, moneyOf } from '../../command-line/words.ts';
import type { ResultOf } from '../../http/operations.ts';
import { IDEMPOTENCY } from '../shared.ts';
import { previewText } from './movement-create.ts';
import { templateVersion } from './templates.ts';
import type { Movement } from '../movement-view.ts';

/** Maximum amount, in units of a stablecoin: for other assets a unit may be worth much more. */
export const SMOKE_MOST = '5';
export const SMOKE_ASSETS = [
  'USDC',
  'USDT',
  'DAI',
  'USDS',
  'PYUSD',
  'FDUSD',
  'TUSD',
  'USDP',
  'USDE',
  'USDB',
] as const;
export const SMOKE_SECONDS = 300;

const RESULT: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['passed', 'movement_id', 'request_state', 'outflow', 'seconds', 'nodes'],
  properties: {
    passed: { type: 'boolean' },
    movement_id: { type: 'string' },
    request_state: { type: 'string' },
    error_code: { type: ['string', 'null'] },
    outflow: { type: 'array', items: { type: 'object' } },
    seconds: { type: 'number', description: 'From the approval to the end.' },
    nodes: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['node_key', 'state', 'seconds', 'external_ref', 'error_code'],
        properties: {
          node_key: { type: 'string' },
          state: { type: 'string' },
          seconds: { type: ['number', 'null'] },
          external_ref: { type: ['string', 'null'] },
          error_code: { type: ['string', 'null'] },
        },
      },
    },
  },
};

export const smoke: Leaf = command({
  name: 'smoke',
  about: 'Move a little money through a template, and see that it arrives',
  details: `Creates a movement of at most ${SMOKE_MOST} units of a stablecoin, asks, approves it and follows it for ${String(SMOKE_SECONDS)} seconds unless --timeout says otherwise. What the plan can move in all counts, not only the amount.`,
  examples: ['fundctl smoke --template starter/withdraw-to-treasury --asset USDC --amount 1'],
  options: {
    template: required(text('template', '<key>@<version>, or a key alone for its newest version')),
    asset: required(text('asset', `one of ${SMOKE_ASSETS.join(', ')}`)),
    amount: required(amount(`at most ${SMOKE_MOST}`)),
    destination: text('address', "the intent's payee: one of the plan's, which chooses none"),
    strategy: text('strategy-id', 'whose movement it is'),
    timeout: whole('seconds', `how long it is followed (${String(SMOKE_SECONDS)})`),
    ...IDEMPOTENCY,
    ...YES,
  },
  answer: { schema: RESULT },
  run: async ({ session, options }) => {
    const asset = options.asset.toUpperCase();
    const { timeout: seconds = SMOKE_SECONDS } = options;
    requireSmall([{ asset, amount: options.amount }]);
    if (seconds < 1) throw usageError('--timeout is 1 second or more.');
    const template = await templateVersion(session, options.template);
    const body = {
      template_key: template.template_key,
      template_version: template.version,
      intent: {
        asset,
        amount: options.amount,
        ...defined({ destination_address: options.destination }),
      },
      labels: { purpose: 'smoke-test' },
      ...defined({ strategy_id: options.strategy }),
    };
    const client = await session.client();
    const foreseen = await client.call('createMovement', { body, dryRun: true });
    const [blocked] = foreseen.blocking_reasons;
    if (blocked !== undefined)
      throw new CommandError(EXIT.refused, `${blocked.error}: ${blocked.message}`);
    requireSmall(foreseen.outflow);
    await session.confirm('Send this now?', {
      yes: options.yes,
      what: await previewText(session.aside, foreseen),
    });
    const made = await session.creating(options.idempotencyKey, (idempotencyKey) =>
      client.call('createMovement', { body, idempotencyKey }),
    );
    if (made.compiled_plan_hash !== foreseen.compiled_plan_hash)
      throw failure(
        `Movement ${made.movement_id} has another plan than the one that was shown: reject the movement.`,
      );
    // Printed before the next request: if that fails, the user knows which movement to check.
    session.note(`Movement ${made.movement_id} is created.`);
    const startedAt = Date.now();
    if (made.request_state === 'PENDING_APPROVAL') await approved(session, made);
    const ended = await followed(session, made.movement_id, seconds);
    await report(session, ended, (Date.now() - startedAt) / 1000);
  },
});

/** Approves the hash of the plan's bytes, if that hash is the hash of the plan that was shown. */
async function approved(session: Session, made: ResultOf<'createMovement'>): Promise<void> {
  const { readPlan } = await import('../plan-view.ts');
  const { hash, plan } = await readPlan(session, made.movement_id);
  if (hash !== made.compiled_plan_hash)
    throw failure(`Movement ${made.movement_id} has another plan than when it was created.`);
  requireSmall(plan.outflow);
  await session.call('approveMovement', {
    params: { movement_id: made.movement_id },
    body: {
      compiled_plan_hash: hash,
      approver_id: session.settings.approver?.value ?? 'fundctl smoke',
    },
  });
}

/** Throws when an asset is no stablecoin, or the amount is more than a smoke test may move. */
export function requireSmall(
  moves: readonly { readonly asset: string; readonly amount: string | null }[] | null,
): void {
  if (moves === null) throw usageError('The amount that this would move is unknown.');
  for (const { asset, amount: much } of moves) {
    if (!SMOKE_ASSETS.some((each) => each === asset))
      throw usageError(
        `A smoke test moves only stablecoins, and ${asset} is not one of ${SMOKE_ASSETS.join(', ')}.`,
      );
    if (much === null || isAbove([much])) throw tooMuch(moves);
  }
  // The amounts are added, because one unit of each stablecoin has about the same value.
  if (isAbove(moves.flatMap(({ amount: much }) => much ?? []))) throw tooMuch(moves);
}

function tooMuch(moves: Parameters<typeof moneyOf>[0]): CommandError {
  return usageError(
    `A smoke test moves at most ${SMOKE_MOST} units, and this can move ${moneyOf(moves)}.`,
  );
}

/** Returns whether the sum exceeds the maximum; digits after the 18th decimal round up. */
function isAbove(amounts: readonly string[]): boolean {
  const scaled = (text: string): bigint => {
    const [whole = '0', part = ''] = text.split('.');
    return (
      BigInt(whole + part.padEnd(18, '0').slice(0, 18)) + (/[1-9]/.test(part.slice(18)) ? 1n : 0n)
    );
  };
  return amounts.reduce((sum, amount) => sum + scaled(amount), 0n) > scaled(SMOKE_MOST);
}

const ENDS = ['COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELLED'];
/** States that need a person. The smoke test ends there as failed and does not wait. */
const NEEDS_PERSON = ['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'];

async function followed(session: Session, id: string, seconds: number): Promise<Movement> {
  const client = await session.client();
  return session.during(`Movement ${id}`, (say) =>
    client.waitFor(id, (seen) => [...ENDS, ...NEEDS_PERSON].includes(seen.request_state), {
      timeoutMs: seconds * 1000,
      signal: session.io.signal,
      onChange: (seen) => say(`Movement ${id}: ${seen.request_state}`),
    }),
  );
}

async function report(session: Session, movement: Movement, seconds: number): Promise<void> {
  const passed = movement.request_state === 'COMPLETED';
  const nodes = movement.nodes.map((node) => ({
    node_key: node.node_key,
    state: node.state,
    seconds: secondsOf(node),
    external_ref: node.external_ref,
    error_code: node.error_code,
  }));
  const { movement_id, request_state, error_code, outflow } = movement;
  const result = { passed, movement_id, request_state, error_code, outflow, seconds, nodes };
  await session.print(
    result,
    async () =>
      session.view.record([
        ['movement', movement_id],
        ['state', state(request_state)],
        ['moved at most', moneyOf(outflow)],
        ['took', `${seconds.toFixed(1)}s`],
      ]) +
      (await session.view.table(nodes, {
        NODE: 'node_key',
        STATE: { state: 'state' },
        TOOK: (node) => (node.seconds === null ? '' : `${node.seconds.toFixed(1)}s`),
        REFERENCE: 'external_ref',
        ERROR: 'error_code',
      })),
  );
  if (!passed)
    throw failure(`The smoke test ended ${request_state}: fundctl movements show ${movement_id}`);
}

function secondsOf(node: Movement['nodes'][number]): number | null {
  if (node.started_at === null || node.completed_at === null) return null;
  return (Date.parse(node.completed_at) - Date.parse(node.started_at)) / 1000;
}
