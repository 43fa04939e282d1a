/** What callers and operators do: each movement has a life of its own, made up by the seed. */
import { administer, AT_EXCHANGE, OTHERS, planStops, type Watch } from './administrator.ts';
import { Caller } from './caller.ts';
import type { Life, Lives, LivesOptions } from './life.ts';
import { inProcess } from './machine/machine.ts';
import { Operator } from './operator.ts';
import { exchangePlans, plansOf, type Plan } from './plans.ts';

/** An order is a multiple of this, so that amounts tell movements apart. */
const UNIT = 1_000;
/** So often a movement's people name what they saw. */
const NAMES = 0.7;
/** Assets of movements that only desks pay, which have all digits that an amount may have. */
const ASSETS = ['USDC', 'DAI', 'BTC'] as const;
/** Few amounts at an exchange: equal withdrawals are the hard ones. */
const WITHDRAWN = ['12', '12.5', '13.000001', '1000.25'] as const;

/** Begins all lives; their `isOver` tells when each has ended. */
export function live(options: LivesOptions): Lives {
  const { machine, movements, desks, exchange, isCalm } = options;
  const { dice } = machine;
  const plans = exchange === null ? plansOf(dice) : exchangePlans(exchange.config);
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
      amount:
        exchange === null
          ? `${String(number + 1)}.${fraction}${more.padStart(more === '' ? 0 : 15, '0')}`
          : dice.pick(WITHDRAWN),
      isNaming: dice.chance(NAMES),
      movement_id: null,
      sent: { approve: null, reject: null, cancel: null },
      accepted: { approve: null, reject: null, cancel: null },
      state: null,
      isOver: false,
    };
  });
  const stops = planStops(dice, machine.now, exchange === null ? OTHERS : AT_EXCHANGE);
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
  const goOn = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  if (exchange !== null) exchange.exchange.onOrder = goOn;
  for (const desk of desks) {
    desk.onOrder = goOn;
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
