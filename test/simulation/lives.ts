/** What callers and operators do: each movement has a life of its own, made up by the seed. */
import { administer, planStops, type PlannedStop, type Watch } from './administrator.ts';
import { Caller } from './caller.ts';
import { inProcess, type Machine } from './machine/machine.ts';
import { Operator } from './operator.ts';
import { plansOf, type Plan } from './plans.ts';
import type { Api } from './service.ts';
import type { Chain } from './worlds/chain.ts';
import type { Desk } from './worlds/desk.ts';

export interface Life {
  readonly number: number;
  readonly template: string;
  /** The nodes of its plan that send on the chain. */
  readonly transfers: readonly string[];
  readonly asset: string;
  readonly amount: string;
  /** Its people name the node that they saw in every resume and retry. */
  readonly isNaming: boolean;
  movement_id: string | null;
  /** When each command was first sent, in milliseconds since 1970; null: never. */
  readonly sent: Record<Command, number | null>;
  /** Which commands the service has accepted, and when it said so. */
  readonly accepted: Record<Command, number | null>;
  state: string | null;
  isOver: boolean;
}

export type Command = 'approve' | 'reject' | 'cancel';

/** A resume or a retry that a person sent, with what that person had seen. */
export interface Click {
  readonly movement_id: string;
  readonly verb: 'resume' | 'retry';
  /** Null: the person named no node. */
  readonly named: {
    readonly node_key: string;
    readonly attempt: number;
    readonly state: string;
  } | null;
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
}

/** All lives of a world, and what they noticed. */
export interface Lives {
  readonly list: readonly Life[];
  readonly stops: readonly PlannedStop[];
  /** How many stops are requested and not answered. */
  deciding: number;
  readonly clicks: Click[];
  /** Movements that waited for a person and did not say why, or offered nothing that leads on. */
  readonly silent: { readonly movement_id: string; readonly state: string }[];
  /** Answers that contradict what was requested or answered before. */
  readonly wrong: { readonly movement_id: string; readonly found: string }[];
  /** Requests that failed after the storm. */
  readonly failed: { readonly request: string; readonly status: number }[];
}

export interface LivesOptions {
  readonly machine: Machine;
  readonly movements: number;
  readonly desks: readonly Desk[];
  readonly chain: Pick<Chain, 'transferOf'>;
  /** An API that is up; null while none is. */
  readonly api: () => Api | null;
  readonly isCalm: () => boolean;
}

/** An order is a multiple of this, so that amounts tell movements apart. */
const UNIT = 1_000;
/** So often a movement's people name what they saw. */
const NAMES = 0.7;
/** Assets of movements that only desks pay, which have all digits that an amount may have. */
const ASSETS = ['USDC', 'DAI', 'BTC'] as const;

/** Begins all lives; their `isOver` tells when each has ended. */
export function live(options: LivesOptions): Lives {
  const { machine, movements, desks, isCalm } = options;
  const { dice } = machine;
  const plans = plansOf(dice);
  const list = Array.from({ length: movements }, (_, number): Life => {
    const plan = dice.pick(plans, ({ weight }) => weight);
    const fraction = String(UNIT + number).slice(-3);
    const more = plan.isOfDesks ? String(dice.between(1, 999_999_999_999_999)) : '';
    return {
      number,
      template: `simulation/${plan.name}`,
      transfers: plan.nodes.flatMap((node) =>
        node['signer_selector'] === undefined ? [] : [node.node_key],
      ),
      asset: plan.isOfDesks ? dice.pick(ASSETS) : 'USDC',
      amount: `${String(number + 1)}.${fraction}${more.padStart(more === '' ? 0 : 15, '0')}`,
      isNaming: dice.chance(NAMES),
      movement_id: null,
      sent: { approve: null, reject: null, cancel: null },
      accepted: { approve: null, reject: null, cancel: null },
      state: null,
      isOver: false,
    };
  });
  const stops = planStops(dice, machine.now);
  const lives: Lives = {
    ...{ list, stops, deciding: 0, clicks: [], silent: [], wrong: [], failed: [] },
  };
  const caller = new Caller({
    ...{ machine, isCalm, api: options.api },
    failed: (request, status) => lives.failed.push({ request, status }),
  });
  const operators = list.map((life) => new Operator(options, caller, lives, life));
  // Whoever hears of a refusal from the desk itself is at the screen when the service hears of it.
  const here = inProcess.getStore();
  const waiting: (() => void)[] = [];
  for (const desk of desks) {
    desk.onOrder = () => {
      for (const go of waiting.splice(0)) go();
    };
    desk.onRefusal = ({ movement_id, node_key, key }) => {
      const index = list.findIndex((life) => life.movement_id === movement_id);
      if (here === undefined) return;
      inProcess.run(here, () => operators[index]?.hearOfRefusal(node_key, key));
    };
  }
  const watch: Watch = {
    deciding: (by) => (lives.deciding += by),
    nextOrder: (ms) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        setTimeout(resolve, ms);
      }),
  };
  void begin(caller, plans, operators).then(() => administer(machine, caller, stops, watch));
  return lives;
}

async function begin(
  caller: Caller,
  plans: readonly Plan[],
  operators: readonly Operator[],
): Promise<void> {
  for (const { name, nodes, edges, assurance = 'provider_completed', risk_controls } of plans) {
    const body = {
      template_key: `simulation/${name}`,
      version: 1,
      name,
      nodes,
      edges,
      completion_policy: { completion_assurance: assurance },
      ...(risk_controls === undefined ? {} : { risk_controls }),
    };
    // A registration whose answer was lost is there when it is sent again.
    const { status, body: answer } = await caller.insist('POST', '/plan-templates', body);
    if (status !== 201 && status !== 409)
      throw new Error(`the plan ${name} was not taken: ${JSON.stringify(answer)}`);
  }
  for (const operator of operators) void operator.run();
}
