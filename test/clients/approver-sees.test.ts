/**
 * Whoever approves a plan is shown each field of a node's config that decides where money goes or
 * how much: by the service (`sends`) and by `fundctl`, which reads the plan's own bytes. The fields
 * stand in a table of this test; one that an executor reads and the table does not have fails.
 */
import { createHash } from 'node:crypto';
import { sendsOf } from '../../api/movements/review.ts';
import { destinationsOf } from '../../domain/allowlist/destinations.ts';
import type { JsonObject } from '../../domain/json.ts';
import { BUILT_IN_ACTIONS } from '../../domain/actions/built-in.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import { sendConfigSchema } from '../../venues/bridge-c/config.ts';
import { burnConfigSchema, mintConfigSchema } from '../../venues/burn-mint/config.ts';
import { internalTransferConfigSchema, withdrawalConfigSchema } from '../../venues/cex/config.ts';
import {
  approveConfigSchema,
  erc20TransferConfigSchema,
  nativeTransferConfigSchema,
} from '../../venues/evm/config.ts';
import { readDepositPlan, readTopUpPlan, readWithdrawPlan } from '../../venues/perp/plan.ts';
import { clientEnv, runFundctl } from '../support/fundctl.ts';
import { answer, refuse, startFlakyServer } from './flaky-server.ts';
import { started } from '../support/started.ts';

const TO = '0x52908400098527886e0f7030069857d2e4169ee7';
const TOKEN = '0x8617e340b3d01fa5f11f306f4090fd50e238070d';
const PERP = { venue: 'perp-master', chain_id: 42161, destination_address: TO };

type Read = (config: JsonObject) => unknown;
interface Money {
  /** Each value is found nowhere else on the screen. */
  readonly config: JsonObject;
  /** What is shown where the config is silent, since the executor acts on it. */
  readonly silent?: readonly string[];
  /** What the executor makes of the config. */
  readonly read: Read;
}
const inputOf = (config: JsonObject) => ({ config, asset: 'USDC', amount: '7.25' });
/** Of the venue's entry nothing is read that counts here. */
const none = {} as Parameters<typeof readTopUpPlan>[1];

const MONEY: Readonly<Record<string, Money>> = {
  cex_withdrawal: {
    config: {
      venue: 'exchange-sub',
      network: 'XRPL',
      tag: 'memo-17',
      destination_address: TO,
      fee_limit: '0.0078125',
    },
    silent: ['SPOT'],
    read: (config) => withdrawalConfigSchema.safeParse(config),
  },
  cex_internal_transfer: {
    config: {
      venue: 'exchange-main',
      account_type: 'FUNDING',
      destination_venue: 'exchange-sub',
      destination_account_type: 'USDT_FUTURE',
    },
    silent: ['exchange-main SPOT', 'exchange-sub SPOT'],
    read: (config) => internalTransferConfigSchema.safeParse(config),
  },
  evm_native_transfer: {
    config: { chain_id: 8453, destination_address: TO },
    read: (config) => nativeTransferConfigSchema.safeParse(config),
  },
  evm_erc20_transfer: {
    config: { chain_id: 8453, token_address: TOKEN, destination_address: TO },
    read: (config) => erc20TransferConfigSchema.safeParse(config),
  },
  evm_erc20_approve: {
    config: { chain_id: 8453, token_address: TOKEN, spender: TO },
    read: (config) => approveConfigSchema.safeParse(config),
  },
  cctp_burn: {
    config: {
      source_chain_id: 8453,
      destination_chain_id: 42161,
      token_address: TOKEN,
      mint_recipient: TO,
      destination_caller: `0x${'ca'.repeat(20)}`,
      max_fee: '0.125',
      finality: 'fast',
    },
    silent: ['anybody', 'standard'],
    read: (config) => burnConfigSchema.safeParse(config),
  },
  cctp_mint: {
    config: { burn_from: 'the-burn' },
    read: (config) => mintConfigSchema.safeParse(config),
  },
  bridge_c_send: {
    config: { source_chain_id: 8453, destination_chain_id: 42161, destination_address: TO },
    read: (config) => sendConfigSchema.safeParse(config),
  },
  perp_deposit: {
    config: { ...PERP, token_address: TOKEN },
    read: (config) => readDepositPlan(inputOf(config)),
  },
  perp_withdraw: {
    config: PERP,
    silent: ['PERP'],
    read: (config) => readWithdrawPlan(inputOf(config), none),
  },
  agent_wallet_top_up: {
    config: { venue: 'perp-master', sub_account_address: TO },
    silent: ['PERP'],
    read: (config) => readTopUpPlan(inputOf(config), none),
  },
};
/** Read to be refused. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  evm_native_transfer: ['token_address'],
};
/** How much is said the same way for every type. */
const AMOUNTS = { amount: '3.0625', amount_ref: 'nodes.before.output.left' };

/** The fields that a reader looks at, whatever it makes of them. */
function fieldsRead(read: Read, config: JsonObject): readonly string[] {
  const seen = new Set<string>();
  const watched = new Proxy(config, {
    get: (target, name) => {
      if (typeof name === 'string') seen.add(name);
      return Reflect.get(target, name) as unknown;
    },
  });
  try {
    read(watched);
  } catch {
    // What is refused was looked at.
  }
  return [...seen];
}

const planOf = (action_type: string, config: JsonObject): CompiledPlan => {
  const node: CompiledNode = {
    node_key: 'it',
    node_kind: 'action',
    action_type,
    config,
    asset: 'USDC',
    sends: true,
    executor_binding: { executor_key: 'x' },
    signer_binding: null,
    has_side_effect: true,
  };
  return {
    template: { template_id: 't', template_key: 'a', version: 1 },
    nodes: [node],
    edges: [],
    risk_controls: {},
    outflow: [],
    input_params: {},
    completion_policy: { completion_assurance: 'destination_finalized' },
    intent: { asset: 'USDC', amount: '7.25' },
  };
};
const server = started(() => startFlakyServer());

/** What `fundctl` prints of the plan where the service says nothing of it. */
async function printed(plan: CompiledPlan): Promise<string> {
  const text = JSON.stringify(plan);
  server.script((response, seen) => {
    const path = seen.target.split('?')[0] ?? '';
    const movement = {
      request_state: 'PENDING_APPROVAL',
      nodes: [],
      created_by: {},
      compiled_plan_hash: createHash('sha256').update(text).digest('hex'),
    };
    const act = path.endsWith('/healthz')
      ? answer(200, { ok: true, service: 'x', api_prefix: '/v3' })
      : path.endsWith('/plan')
        ? answer(200, plan)
        : path.startsWith('/v3/movements/')
          ? answer(200, movement)
          : refuse(403, 'forbidden');
    act(response, seen);
  });
  const env = clientEnv(server.url, { keyId: 'tester', secret: 'a-secret' });
  const { status, out, err } = await runFundctl(env, ['movements', 'plan', 'an-id']);
  expect([status, err]).toEqual([0, '']);
  return out;
}

/** What create, preview and detail say of the plan. */
function answeredSends(plan: CompiledPlan): string {
  const addresses = plan.nodes.flatMap((node) =>
    destinationsOf({ node, executor: undefined, intent: plan.intent, input_params: {} }).map(
      ({ node_key, chain_family, address, chain_id }) => ({
        node_key,
        chain_family,
        address,
        chain_id,
        allowed: true,
        usable_after: null,
        code: null,
        problem: null,
        hopeless: false,
        strict: false,
      }),
    ),
  );
  return JSON.stringify(sendsOf(plan, addresses));
}

const sending = Object.entries(BUILT_IN_ACTIONS).flatMap(([type, { sends }]) =>
  sends ? [type] : [],
);

test('the table has every built-in action type that sends', () => {
  expect(Object.keys(MONEY).sort()).toEqual([...sending].sort());
});

describe.each(sending)('of %s', (type) => {
  const { config = {}, silent = [], read = () => null } = MONEY[type] ?? {};

  test('the table has every field that its executor reads', () => {
    const known = [...Object.keys(config), ...(REFUSED[type] ?? [])];
    expect(fieldsRead(read, config).filter((name) => !known.includes(name))).toEqual([]);
    expect(fieldsRead(read, config).length).toBeGreaterThan(0);
  });

  test('each field that decides where or how much is shown', async () => {
    for (const [name, value] of Object.entries(AMOUNTS)) {
      const plan = planOf(type, { ...config, [name]: value });
      for (const shown of [await printed(plan), answeredSends(plan)])
        for (const each of [...Object.values(config), value]) expect(shown).toContain(String(each));
    }
  });

  test('what another type reads instead is not shown in its place', async () => {
    const other = Object.hasOwn(config, 'source_chain_id') ? 'chain_id' : 'source_chain_id';
    const plan = planOf(type, { ...config, [other]: 999_983 });
    // The node's own config stands in what fundctl prints of it; the terms are the service's.
    for (const each of sendsOf(plan, [])) expect(each.chain_id).not.toBe('999983');
  });

  test('what a silent config stands for is shown', async () => {
    const { account_type: _from, destination_account_type: _to, ...rest } = config;
    const { finality: _finality, destination_caller: _caller, ...plain } = rest;
    const shown = await printed(planOf(type, plain));
    for (const each of silent) expect(shown).toContain(each);
  });
});
