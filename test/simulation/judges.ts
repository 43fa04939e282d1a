/**
 * What must be true of a world when it has come to rest. The judges read the books of what is
 * outside and the rows of the database, and use no rule of the service.
 */
import { compare } from '../support/amounts.ts';
import type { Statements } from './machine/database.ts';
import type { Life, Lives } from './lives.ts';
import { PAYEES } from './payees.ts';
import type { Server } from './runtime/server.ts';
import type { Chain, MinedTransfer } from './worlds/chain.ts';
import type { Desk, Order } from './worlds/desk.ts';
import type { Received, Receiver } from './worlds/receiver.ts';

/** A contradiction: what was found, in words, and of which movement. */
export interface Verdict {
  readonly rule: string;
  readonly movement_id: string | null;
  readonly found: string;
}

export interface Facts {
  readonly movements: readonly {
    readonly movement_id: string;
    readonly request_state: string;
    readonly reservation_status: string;
    readonly amount: string;
  }[];
  readonly nodes: readonly {
    readonly movement_id: string;
    readonly node_key: string;
    readonly state: string;
    readonly attempt: number;
    readonly executor_key: string | null;
  }[];
  readonly timeline: readonly { readonly movement_id: string; readonly sequences: number[] }[];
  readonly unapplied: readonly { readonly movement_id: string; readonly kind: string }[];
  readonly approvals: readonly { readonly movement_id: string }[];
  readonly runs: ReadonlyMap<string, string | null>;
  readonly orders: readonly Order[];
  readonly callbacks: readonly {
    readonly movement_id: string;
    readonly event_id: string;
    readonly sequence: number;
    readonly status: string;
  }[];
  readonly received: readonly Received[];
  readonly lives: readonly Pick<
    Life,
    'movement_id' | 'number' | 'template' | 'sent' | 'accepted' | 'isOver' | 'amount' | 'transfers'
  >[];
  readonly stops: Lives['stops'];
  readonly silent: Lives['silent'];
  readonly failed: Lives['failed'];
  readonly transfers: readonly MinedTransfer[];
  /** Token transfers, each when an endpoint first took one with its nonce. */
  readonly sends: Chain['sends'];
  /** Hashes of other transactions on the chain that had an effect. */
  readonly strangers: readonly string[];
  /** Transactions that wait to be mined, in words. */
  readonly waiting: readonly string[];
}

/** Milliseconds after a stop in which what had passed its last check may still arrive. */
const ON_ITS_WAY_MS = 45_000;

const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED', 'EXPIRED'];

export async function judge(world: {
  readonly statements: Statements;
  readonly desks: readonly Desk[];
  readonly chain: Pick<Chain, 'transfers' | 'sends' | 'strangers' | 'waiting'>;
  readonly receiver: Receiver;
  readonly lives: Lives;
  readonly server: Server;
}): Promise<Verdict[]> {
  const { statements, server } = world;
  const movements = await statements.ask<Facts['movements'][number]>(
    `SELECT movement_id::text, request_state, reservation_status, amount::text FROM movements`,
  );
  return contradictions({
    movements,
    nodes: await statements.ask(
      `SELECT movement_id::text, node_key, state, attempt, executor_binding ->> 'executor_key' AS executor_key FROM movement_nodes`,
    ),
    timeline: await statements.ask(
      `SELECT movement_id::text, array_agg(sequence::integer ORDER BY sequence) AS sequences
         FROM timeline_events GROUP BY 1`,
    ),
    unapplied: await statements.ask(
      `SELECT movement_id::text, kind FROM commands WHERE applied_at IS NULL`,
    ),
    approvals: await statements.ask(`SELECT movement_id::text FROM movement_approvals`),
    runs: new Map(
      movements.map(({ movement_id }) => [movement_id, server.statusOf(`movement/${movement_id}`)]),
    ),
    orders: world.desks.flatMap(({ orders }) => orders),
    callbacks: await statements.ask(
      `SELECT movement_id::text, event_id::text, sequence::integer, status FROM callbacks`,
    ),
    received: world.receiver.received,
    lives: world.lives.list,
    stops: world.lives.stops,
    silent: world.lives.silent,
    failed: world.lives.failed,
    transfers: world.chain.transfers,
    sends: world.chain.sends,
    strangers: world.chain.strangers,
    waiting: world.chain.waiting,
  });
}

/** The rules, each by itself. */
export function contradictions(facts: Facts): Verdict[] {
  return Object.entries(RULES).flatMap(([rule, check]) =>
    check(facts).map(([movement_id, found]) => ({ rule, movement_id, found })),
  );
}

/** Of each plan: of which nodes exactly one is paid at its end, and what waits for a resume. */
const COURSES: Readonly<
  Record<string, { readonly needs: readonly (readonly string[])[]; readonly afterResume?: string }>
> = {
  one: { needs: [['pay']] },
  blind: { needs: [['pay']] },
  row: { needs: [['first'], ['second']] },
  'side-by-side': { needs: [['left'], ['right']] },
  gated: { needs: [['before'], ['after']], afterResume: 'after' },
  instead: { needs: [['try', 'instead']] },
  undone: { needs: [['pay'], ['more']] },
  chain: { needs: [['send']] },
  'chain-final': { needs: [['final']] },
  'chain-row': { needs: [['pay'], ['forward']] },
  'chain-pair': { needs: [['one'], ['two']] },
  'chain-instead': { needs: [['attempt', 'instead']] },
  'chain-undone': { needs: [['before-gate'], ['after']], afterResume: 'after' },
};

/** The callback that belongs to each end. */
const CALLED: Readonly<Record<string, string>> = {
  COMPLETED: 'request_completed',
  FAILED: 'request_failed',
  CANCELLED: 'request_cancelled',
  REJECTED: 'request_rejected',
  EXPIRED: 'request_expired',
};

function lifeOf({ lives }: Facts, movementId: string): Facts['lives'][number] | undefined {
  return lives.find(({ movement_id }) => movement_id === movementId);
}

function movementOf({ movements }: Facts, movementId: string | null) {
  return movements.find(({ movement_id }) => movement_id === movementId);
}

type Found = readonly [movement_id: string | null, found: string];

const paidOf = ({ orders }: Facts): readonly Order[] =>
  orders.filter(({ state }) => state === 'paid' || state === 'taken');

/** A transfer's movement, by the amount, and its node, by the payee. */
function ordererOf({ lives }: Facts, { units, payee }: Pick<MinedTransfer, 'units' | 'payee'>) {
  const node_key = Object.keys(PAYEES).find((name) => PAYEES[name] === payee) ?? '';
  const life = lives.find(
    ({ amount, transfers }) =>
      BigInt(amount.replace('.', '')) * 1_000n === units && transfers.includes(node_key),
  );
  return { life, node_key };
}

function transfersOf(facts: Facts) {
  return facts.transfers.flatMap((transfer) => {
    const { life, node_key } = ordererOf(facts, transfer);
    return life?.movement_id == null ? [] : [{ movement_id: life.movement_id, node_key }];
  });
}

const RULES: Readonly<Record<string, (facts: Facts) => Found[]>> = {
  'an attempt is paid once at most': (facts) =>
    repeated(paidOf(facts), ({ key }) => key).map((key) => [
      key.slice(0, 36),
      `${key} is paid twice`,
    ]),
  'a node is paid once at most': (facts) =>
    repeated(paidOf(facts), ({ movement_id, node_key }) => `${movement_id} ${node_key}`).map(
      (node) => [node.slice(0, 36), `${node} is paid twice`],
    ),
  'a node is COMPLETED if and only if it is paid': (facts) => {
    const paid = new Set(
      facts.orders
        .filter(({ state }) => state === 'paid')
        .map(({ movement_id, node_key }) => `${movement_id} ${node_key}`),
    );
    return facts.nodes
      .filter(({ executor_key }) => executor_key?.endsWith('.desk') === true)
      .filter(
        ({ movement_id, node_key, state }) =>
          (state === 'COMPLETED') !== paid.has(`${movement_id} ${node_key}`),
      )
      .map(({ movement_id, node_key, state }) => [
        movement_id,
        `${node_key} is ${state}, and the desk has ${paid.has(`${movement_id} ${node_key}`) ? '' : 'not '}paid it`,
      ]);
  },
  'what is paid is what was wanted and approved': (facts) => {
    const approved = new Set(facts.approvals.map(({ movement_id }) => movement_id));
    return facts.orders
      .filter(({ movement_id, asset, amount, payee, at }) => {
        const life = lifeOf(facts, movement_id);
        return (
          life === undefined ||
          compare(amount, life.amount) !== 0 ||
          asset !== 'USDC' ||
          payee !== PAYEES['desk'] ||
          !approved.has(movement_id) ||
          at < (life.sent.approve ?? Infinity)
        );
      })
      .map(({ movement_id, key, amount, asset, payee }) => [
        movement_id,
        `${key} pays ${amount} ${asset} to ${payee}`,
      ]);
  },
  'what people decided is what became of it': (facts) =>
    facts.lives.flatMap(({ movement_id, accepted }): Found[] => {
      const state = movementOf(facts, movement_id)?.request_state ?? 'none';
      const isWrong =
        (accepted.approve !== null &&
          ['EXPIRED', 'REJECTED', 'PENDING_APPROVAL'].includes(state)) ||
        (accepted.reject !== null && state !== 'REJECTED') ||
        (accepted.cancel !== null && state !== 'CANCELLED');
      return isWrong ? [[movement_id, `it is ${state} after ${JSON.stringify(accepted)}`]] : [];
    }),
  'a movement ends as its plan says': (facts) =>
    facts.lives.flatMap(({ movement_id, template, sent }): Found[] => {
      const course = COURSES[template.replace('simulation/', '')];
      const state = movementOf(facts, movement_id)?.request_state;
      if (course === undefined || state === undefined)
        return movement_id === null ? [] : [[movement_id, `its plan is unknown here: ${template}`]];
      const orders = paidOf(facts).filter((order) => order.movement_id === movement_id);
      const paid = new Set([
        ...orders.map(({ node_key }) => node_key),
        ...transfersOf(facts).flatMap((each) =>
          each.movement_id === movement_id ? [each.node_key] : [],
        ),
      ]);
      const isFailed = facts.nodes.some(
        (node) => node.movement_id === movement_id && node.state === 'FAILED',
      );
      const found: string[] = [];
      for (const one of course.needs)
        if (state === 'COMPLETED' && one.filter((key) => paid.has(key)).length !== 1)
          found.push(`it is COMPLETED, and of ${one.join(', ')} not one is paid`);
      for (const one of course.needs)
        if (one.filter((key) => paid.has(key)).length > 1)
          found.push(`more than one of ${one.join(', ')} is paid`);
      if (state === 'FAILED' && !isFailed) found.push('it is FAILED, and none of its nodes');
      if (paid.has('undo') && state !== 'CANCELLED') found.push(`it is ${state}, and undone`);
      const early = orders.find(({ node_key, at }) => {
        const after = course.afterResume === node_key ? (sent.resume ?? Infinity) : 0;
        return at < after;
      });
      if (early !== undefined) found.push(`${early.key} is ordered before a resume`);
      return found.map((each) => [movement_id, each]);
    }),
  'after a cancel nothing new leaves but what undoes': (facts) =>
    facts.orders.flatMap(({ movement_id, node_key, key, at }): Found[] => {
      const cancelled = lifeOf(facts, movement_id)?.accepted.cancel ?? null;
      const isLate = cancelled !== null && at > cancelled + ON_ITS_WAY_MS;
      return isLate && node_key !== 'undo'
        ? [[movement_id, `${key} is ordered after the cancel`]]
        : [];
    }),
  'no request fails after the storm': ({ failed }) =>
    failed.map(({ request, status }) => [null, `${request} answers ${String(status)}`]),
  'a transfer is mined once at most': (facts) =>
    repeated(transfersOf(facts), ({ movement_id, node_key }) => `${movement_id} ${node_key}`).map(
      (node) => [node.slice(0, 36), `${node} is mined twice`],
    ),
  'a transfer is COMPLETED if and only if it is mined': (facts) => {
    const mined = new Set(
      transfersOf(facts).map(({ movement_id, node_key }) => `${movement_id} ${node_key}`),
    );
    return facts.nodes
      .filter(({ movement_id, node_key }) =>
        facts.lives.some(
          (life) => life.movement_id === movement_id && life.transfers.includes(node_key),
        ),
      )
      .filter(
        ({ movement_id, node_key, state }) =>
          (state === 'COMPLETED') !== mined.has(`${movement_id} ${node_key}`),
      )
      .map(({ movement_id, node_key, state }) => [
        movement_id,
        `${node_key} is ${state}, and it is ${state === 'COMPLETED' ? 'not ' : ''}mined`,
      ]);
  },
  'a transfer on the chain is one that an approved movement orders': (facts) => [
    ...facts.transfers
      .filter((transfer) => {
        const { life } = ordererOf(facts, transfer);
        return (
          life === undefined ||
          life.sent.approve === null ||
          !facts.approvals.some(({ movement_id }) => movement_id === life.movement_id)
        );
      })
      .map((transfer): Found => [
        ordererOf(facts, transfer).life?.movement_id ?? null,
        `${transfer.hash} moves ${String(transfer.units)} to ${transfer.payee}`,
      ]),
    ...facts.strangers.map((hash): Found => [null, `${hash} is none of ours`]),
  ],
  'nothing leaves after it was stopped': ({ orders, sends, stops }) =>
    [
      ...orders.map(({ at, movement_id, key }) => ({ at, movement_id, what: key })),
      ...sends.map(({ at, hash }) => ({ at, movement_id: null, what: hash })),
    ]
      .filter(({ at }) =>
        stops.some(({ from, to }) => at > from + ON_ITS_WAY_MS && at < (to ?? Infinity)),
      )
      .map(({ movement_id, what }) => [movement_id, `${what} was ordered while all was stopped`]),
  'whoever waits for a person says so': ({ silent }) =>
    silent.map(({ movement_id, state }) => [movement_id, `it was ${state}, without a reason`]),
  'no nonce waits for ever': ({ waiting }) => waiting.map((found) => [null, found]),
  'everything ends': (facts) => [
    ...facts.lives
      .filter(({ isOver }) => !isOver)
      .map(({ movement_id, number }): Found => [
        movement_id,
        `life ${String(number)} has not ended: ${stateOf(facts, movement_id)}`,
      ]),
    ...facts.nodes
      .filter(({ state }) =>
        ['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'READY', 'UNKNOWN'].includes(state),
      )
      .map(({ movement_id, node_key, state }): Found => [
        movement_id,
        `${node_key} is ${state}: ${stateOf(facts, movement_id)}`,
      ]),
  ],
  'a movement is created once': (facts) =>
    facts.movements.length > facts.lives.length
      ? [
          [
            null,
            `${String(facts.movements.length)} movements of ${String(facts.lives.length)} lives`,
          ],
        ]
      : [],
  'a timeline has no gaps': (facts) =>
    facts.timeline
      .filter(({ sequences }) => sequences.some((each, index) => each !== index + 1))
      .map(({ movement_id, sequences }) => [movement_id, sequences.join(' ')]),
  'every callback has arrived, and nothing else': ({ callbacks, received }) => {
    const arrived = new Set(received.map(({ event_id }) => event_id));
    const written = new Map(callbacks.map((each) => [each.event_id, each]));
    return [
      ...callbacks
        .filter(({ event_id, status }) => !arrived.has(event_id) || status !== 'delivered')
        .map(({ movement_id, sequence, status, event_id }): Found => [
          movement_id,
          `callback ${String(sequence)} is ${status}, and has ${arrived.has(event_id) ? '' : 'not '}arrived`,
        ]),
      ...received
        .filter((each) => written.get(each.event_id)?.movement_id !== each.movement_id)
        .map(({ movement_id, sequence }): Found => [
          movement_id,
          `callback ${String(sequence)} arrived, and has no row`,
        ]),
    ];
  },
  'every end is called back': ({ received, movements }) => {
    const called = new Set(received.map((each) => `${each.movement_id} ${each.event_type}`));
    return movements
      .filter(
        ({ movement_id, request_state }) =>
          !called.has(`${movement_id} ${CALLED[request_state] ?? 'none'}`),
      )
      .map(({ movement_id, request_state }) => [
        movement_id,
        `it is ${request_state}, without a callback of it`,
      ]);
  },
  'every command is applied': (facts) =>
    facts.unapplied.map(({ movement_id, kind }) => [movement_id, `${kind} is not applied`]),
  'a run closes with its movement': (facts) =>
    facts.movements
      .filter(
        ({ movement_id, request_state }) =>
          (facts.runs.get(movement_id) === 'RUNNING') !== !ENDED.includes(request_state),
      )
      .map(({ movement_id, request_state }) => [
        movement_id,
        `it is ${request_state}, and its run ${String(facts.runs.get(movement_id))}`,
      ]),
  'a movement has consumed what it held once it is COMPLETED': ({ movements }) =>
    movements
      .filter(
        ({ request_state, reservation_status }) =>
          (request_state === 'COMPLETED') !== (reservation_status === 'consumed'),
      )
      .map(({ movement_id, request_state, reservation_status }) => [
        movement_id,
        `it is ${request_state}, and its reservation ${reservation_status}`,
      ]),
  // A cancelled movement goes on to say that it holds what it has paid.
  'nothing is held for what has ended and paid nothing': (facts) =>
    facts.movements
      .filter(
        ({ movement_id, request_state, reservation_status }) =>
          ENDED.includes(request_state) &&
          reservation_status === 'held' &&
          !paidOf(facts).some((order) => order.movement_id === movement_id) &&
          !transfersOf(facts).some((transfer) => transfer.movement_id === movement_id),
      )
      .map(({ movement_id, request_state }) => [movement_id, `it is ${request_state}, and held`]),
};

function stateOf({ movements, nodes }: Facts, movementId: string | null): string {
  const movement = movements.find(({ movement_id }) => movement_id === movementId);
  const own = nodes.filter(({ movement_id }) => movement_id === movementId);
  return `${movement?.request_state ?? 'not created'} ${own.map(({ node_key, state }) => `${node_key}=${state}`).join(' ')}`;
}

function repeated<T>(items: readonly T[], keyOf: (item: T) => string): string[] {
  const seen = new Map<string, number>();
  for (const item of items) seen.set(keyOf(item), (seen.get(keyOf(item)) ?? 0) + 1);
  return [...seen].filter(([, count]) => count > 1).map(([key]) => key);
}
