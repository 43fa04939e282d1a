/**
 * What must be true of a world when it has come to rest. The judges read the books of what is
 * outside and the rows of the database, and use no rule of the service.
 */
import { compare } from '../support/amounts.ts';
import { fencesOf, Switches, type Act } from './acts.ts';
import type { Statements } from './machine/database.ts';
import type { Life, Lives } from './life.ts';
import { stillnessOf, type Stillness } from './liveness.ts';
import { PAYEES } from './payees.ts';
import { COURSES, DEAR, FIXED, MOST, WITHDRAWAL } from './plans.ts';
import type { Server } from './runtime/server.ts';
import type { Chain, MinedTransfer } from './worlds/chain.ts';
import {
  CHARGED,
  OWN_ACCOUNT,
  receivedOf,
  SETTLE_SECONDS,
  TIMEOUT_SECONDS,
  type Desk,
  type Order,
} from './worlds/desk.ts';
import { ordersAt } from './worlds/exchange-orders.ts';
import type { Exchange } from './worlds/exchange.ts';
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
    readonly signer_key: string | null;
    /** What the payer calls it; absent: not read. */
    readonly external_ref?: string | null;
  }[];
  /** What was committed, in the order of the commits. */
  readonly acts: readonly Act[];
  /** Resumes and retries that took effect. `attempt`: of the node, right after it. */
  readonly decided: readonly {
    readonly movement_id: string;
    readonly verb: 'resume' | 'retry';
    readonly node_key: string;
    readonly attempt: number | null;
    /** Milliseconds since 1970. */
    readonly at: number;
  }[];
  /** How long movements stood still that nothing held up. */
  readonly still: readonly Stillness[];
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
    | 'movement_id'
    | 'number'
    | 'template'
    | 'sent'
    | 'accepted'
    | 'isOver'
    | 'asset'
    | 'amount'
    | 'transfers'
    | 'isNaming'
  >[];
  readonly clicks: Lives['clicks'];
  readonly wrong: Lives['wrong'];
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

/** Milliseconds after a stop in which bytes that had passed their last check may reach a chain. */
const ON_ITS_WAY_MS = 45_000;
/** Milliseconds after its fence in which an order leaves and arrives. */
const ARRIVES_WITHIN_MS = (TIMEOUT_SECONDS + SETTLE_SECONDS + 5) * 1_000;

const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'REJECTED', 'EXPIRED'];

export async function judge(world: {
  readonly statements: Statements;
  readonly desks: readonly Desk[];
  readonly exchange: Exchange | null;
  readonly chain: Pick<Chain, 'transfers' | 'sends' | 'strangers' | 'waiting'>;
  readonly receiver: Receiver;
  readonly lives: Lives;
  readonly server: Server;
  /** The true time of a time by the clock of the database, in milliseconds since 1970. */
  readonly trueTime: (clock: number) => number;
  /** When the storm ended, in milliseconds since 1970. */
  readonly calmSince: number;
}): Promise<Verdict[]> {
  const { statements, server, trueTime } = world;
  const movements = await statements.ask<Facts['movements'][number]>(
    `SELECT movement_id::text, request_state, reservation_status, amount::text FROM movements`,
  );
  const nodes = await statements.ask<Facts['nodes'][number]>(
    `SELECT movement_id::text, node_key, state, attempt, external_ref,
       executor_binding ->> 'executor_key' AS executor_key,
       signer_binding ->> 'signer_key' AS signer_key FROM movement_nodes`,
  );
  const acts = (
    await statements.ask<Act & { clock: number }>(
      `SELECT nr::integer, clock::double precision, kind, subject, node_key, attempt, value
         FROM simulated_acts ORDER BY nr`,
    )
  ).map(({ clock, ...act }): Act => ({ ...act, at: trueTime(clock) }));
  const events = await statements.ask<{ movement_id: string; clock: number }>(
    `SELECT movement_id::text, extract(epoch FROM occurred_at)::double precision * 1000 AS clock
       FROM timeline_events ORDER BY movement_id, sequence`,
  );
  const decided = await statements.ask<Facts['decided'][number] & { clock: number }>(
    `SELECT t.movement_id::text, t.node_key, q.attempt,
       CASE t.event_type WHEN 'request_resumed' THEN 'resume' ELSE 'retry' END AS verb,
       extract(epoch FROM t.occurred_at)::double precision * 1000 AS clock
     FROM timeline_events t LEFT JOIN timeline_events q
       ON q.movement_id = t.movement_id AND q.sequence = t.sequence + 1
     WHERE t.event_type IN ('request_resumed', 'request_retried')
     ORDER BY t.movement_id, t.sequence`,
  );
  return contradictions({
    movements,
    nodes,
    acts,
    decided: decided.map(({ clock, ...each }) => ({ ...each, at: trueTime(clock) })),
    still: stillnessOf({
      acts,
      nodes,
      events: events.map(({ movement_id, clock }) => ({ movement_id, at: trueTime(clock) })),
      calmSince: world.calmSince,
    }),
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
    orders: [
      ...world.desks.flatMap(({ orders }) => orders),
      ...ordersAt(world.exchange?.sent ?? [], nodes, acts),
    ],
    callbacks: await statements.ask(
      `SELECT movement_id::text, event_id::text, sequence::integer, status FROM callbacks`,
    ),
    received: world.receiver.received,
    lives: world.lives.list,
    clicks: world.lives.clicks,
    wrong: world.lives.wrong,
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

/** Whether what pays for the node has orders in its books. */
const isOfOrders = (executor: string | null): boolean =>
  executor?.endsWith('.desk') === true || executor === WITHDRAWAL;

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

/** Whether the node is to pay this amount. */
function isWanted(
  facts: Facts,
  { movement_id, template, amount: intended }: Facts['lives'][number],
  { node_key, amount }: Pick<Order, 'node_key' | 'amount'>,
): boolean {
  const name = template.replace('simulation/', '');
  if (name === 'limited' && compare(amount, MOST) > 0) return false;
  if (name === 'fixed' && node_key === 'little') return compare(amount, FIXED) === 0;
  if (name === 'chosen' && node_key !== 'first' && node_key !== 'undo')
    if ((node_key === 'dear') !== compare(intended, DEAR) > 0) return false;
  if (name === 'passed-on' && node_key === 'rest') {
    const before = facts.orders.find(
      (each) => each.movement_id === movement_id && each.node_key === CHARGED,
    );
    return before !== undefined && compare(amount, receivedOf(before)) === 0;
  }
  return compare(amount, intended) === 0;
}

/** Whom the desk or the exchange of a node is to pay. */
function payeeOf({ nodes }: Facts, movementId: string, nodeKey: string): string {
  const executor = nodes.find(
    ({ movement_id, node_key }) => movement_id === movementId && node_key === nodeKey,
  )?.executor_key;
  if (executor === 'plain.desk' || executor === 'bare.desk') return OWN_ACCOUNT;
  return PAYEES[executor === WITHDRAWAL ? nodeKey : 'desk'] ?? '';
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
      .filter(({ executor_key }) => isOfOrders(executor_key))
      .filter(
        ({ movement_id, node_key, state }) =>
          (state === 'COMPLETED') !== paid.has(`${movement_id} ${node_key}`),
      )
      .map(({ movement_id, node_key, state }) => [
        movement_id,
        `${node_key} is ${state}, and it is ${paid.has(`${movement_id} ${node_key}`) ? '' : 'not '}paid`,
      ]);
  },
  'a node names the order that is its own': (facts) =>
    facts.nodes
      .filter(
        ({ movement_id, node_key, executor_key, external_ref }) =>
          executor_key === WITHDRAWAL &&
          external_ref != null &&
          !facts.orders.some(
            (order) =>
              order.movement_id === movement_id &&
              order.node_key === node_key &&
              order.id === external_ref,
          ),
      )
      .map(({ movement_id, node_key, external_ref }) => [
        movement_id,
        `${node_key} names ${String(external_ref)}, which is not its own`,
      ]),
  'what is paid is what was wanted and approved': (facts) => {
    const approved = new Set(facts.approvals.map(({ movement_id }) => movement_id));
    return facts.orders
      .filter(({ movement_id, node_key, asset, amount, payee, at }) => {
        const life = lifeOf(facts, movement_id);
        return (
          life === undefined ||
          !isWanted(facts, life, { node_key, amount }) ||
          asset !== life.asset ||
          payee !== payeeOf(facts, movement_id, node_key) ||
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
  'a movement ends as its plan says': (facts) => {
    const transfers = transfersOf(facts);
    return facts.lives.flatMap(({ movement_id, template }): Found[] => {
      const course = COURSES[template.replace('simulation/', '')];
      const state = movementOf(facts, movement_id)?.request_state;
      if (course === undefined || state === undefined)
        return movement_id === null ? [] : [[movement_id, `its plan is unknown here: ${template}`]];
      const orders = paidOf(facts).filter((order) => order.movement_id === movement_id);
      const paid = new Set([
        ...orders.map(({ node_key }) => node_key),
        ...transfers.flatMap((each) => (each.movement_id === movement_id ? [each.node_key] : [])),
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
      for (const { node_key, key, at } of orders) {
        const gate = course.behind?.[node_key];
        const isLetGo = facts.clicks.some(
          (click) =>
            click.movement_id === movement_id &&
            click.verb === 'resume' &&
            (click.named === null || click.named.node_key === gate) &&
            click.at <= at,
        );
        if (gate !== undefined && !isLetGo) found.push(`${key} is ordered before a resume`);
        for (const before of course.after?.[node_key] ?? [])
          if (!orders.some((each) => each.node_key === before && each.at < at))
            found.push(`${key} is ordered before ${before}`);
      }
      return found.map((each) => [movement_id, each]);
    });
  },
  // Whoever is answered that something is stopped knows that nothing passes its fence from then on.
  'nothing passes its fence after it was stopped': (facts) => {
    const switches = new Switches();
    const byKey = new Map(
      facts.nodes.map((node) => [`${node.movement_id} ${node.node_key}`, node]),
    );
    return facts.acts.flatMap((act): Found[] => {
      switches.take(act);
      if (act.kind !== 'movement_nodes' || act.value !== 'SUBMITTING') return [];
      const node = byKey.get(`${act.subject} ${act.node_key ?? ''}`);
      const stop = node === undefined ? null : switches.against(node);
      return stop === null
        ? []
        : [
            [
              act.subject,
              `${act.node_key ?? ''} passed its fence though it was stopped: ${stop.why}`,
            ],
          ];
    });
  },
  'what leaves has passed its fence, and in its time': (facts) => {
    const fences = fencesOf(facts.acts);
    return facts.orders
      .filter(
        ({ movement_id, node_key, key, at, arrives_within_ms = ARRIVES_WITHIN_MS }) =>
          !fences.some(
            (fence) =>
              `${fence.subject}:${fence.node_key ?? ''}:${String(fence.attempt)}` === key &&
              fence.subject === movement_id &&
              fence.node_key === node_key &&
              fence.at <= at &&
              at <= fence.at + arrives_within_ms,
          ),
      )
      .map(({ movement_id, key, at }) => [
        movement_id,
        `${key} is ordered at ${String(at)}, and passed no fence right before`,
      ]);
  },
  'a decision is about what its person saw': (facts) =>
    facts.lives
      .filter(({ isNaming, movement_id }) => isNaming && movement_id !== null)
      .flatMap(({ movement_id }) => {
        const of = <T extends { readonly movement_id: string }>(all: readonly T[]): T[] =>
          all.filter((each) => each.movement_id === movement_id);
        const clicks = of(facts.clicks);
        return of(facts.decided).flatMap(({ verb, node_key, attempt, at }, index, all): Found[] => {
          const asSeen = clicks.filter(
            ({ verb: clicked, named, at: when }) =>
              clicked === verb &&
              named?.node_key === node_key &&
              when <= at &&
              (verb === 'resume' || named.attempt + (named.state === 'FAILED' ? 1 : 0) === attempt),
          );
          const before = all
            .slice(0, index)
            .filter(
              (each) =>
                each.verb === verb && each.node_key === node_key && each.attempt === attempt,
            );
          return asSeen.length > before.length
            ? []
            : [[movement_id, `${verb} of ${node_key} to ${String(attempt)}; no person sent it`]];
        });
      }),
  'an answer is what was requested': ({ wrong }) =>
    wrong.map(({ movement_id, found }) => [movement_id, found]),
  'nothing stands still': ({ still }) =>
    still.map(({ movement_id, from, ms, state, isCalm }) => [
      movement_id,
      `it was ${state} for ${String(Math.round(ms / 1_000))} s${isCalm ? ' after the storm' : ''} since ${String(from)}`,
    ]),
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
  'no bytes reach a chain after they were stopped': (facts) =>
    facts.sends.flatMap((send): Found[] => {
      const { life, node_key } = ordererOf(facts, send);
      const node = facts.nodes.find(
        (each) => each.movement_id === life?.movement_id && each.node_key === node_key,
      );
      if (node === undefined) return [];
      const switches = new Switches();
      for (const act of facts.acts) if (act.at <= send.at) switches.take(act);
      const stop = switches.against(node);
      return stop === null || send.at <= stop.since + ON_ITS_WAY_MS
        ? []
        : [[node.movement_id, `${node_key} reached the chain though it was stopped: ${stop.why}`]];
    }),
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
  'what was paid and cancelled stays held': (facts) => {
    const transfers = transfersOf(facts);
    return facts.movements
      .filter(
        ({ movement_id, request_state, reservation_status }) =>
          request_state === 'CANCELLED' &&
          reservation_status !== 'held' &&
          (facts.orders.some((each) => each.movement_id === movement_id && each.state === 'paid') ||
            transfers.some((transfer) => transfer.movement_id === movement_id)),
      )
      .map(({ movement_id, reservation_status }) => [
        movement_id,
        `it is CANCELLED and paid, and its reservation ${reservation_status}`,
      ]);
  },
  // A cancelled movement goes on to say that it holds what it has paid.
  'nothing is held for what has ended and paid nothing': (facts) => {
    const transfers = transfersOf(facts);
    return facts.movements
      .filter(
        ({ movement_id, request_state, reservation_status }) =>
          ENDED.includes(request_state) &&
          reservation_status === 'held' &&
          !paidOf(facts).some((order) => order.movement_id === movement_id) &&
          !transfers.some((transfer) => transfer.movement_id === movement_id),
      )
      .map(({ movement_id, request_state }) => [movement_id, `it is ${request_state}, and held`]);
  },
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
