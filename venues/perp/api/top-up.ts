/** POST …/agent-wallets/{agent_name}/top-up: moves more funds to a strategy at the venue. */
import type { z } from 'zod';
import type { Requester } from '../../../domain/commands/context.ts';
import { ServiceError } from '../../../domain/errors.ts';
import { ExecutorFault } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { compare, subtract, toBaseUnits } from '../../../domain/money.ts';
import type { PerpBinding, PerpMaster } from '../../../domain/perps/registry.ts';
import type { TemplateNode } from '../../../domain/plan/types.ts';
import { checksummed } from '../../../platform/evm-address.ts';
import { listAgentWallets, readPerpBinding, readPerpMaster } from '../../../store/perp-venue.ts';
import { createTopUp, readOpenTopUps } from '../../../store/perp-top-ups.ts';
import type { PerpAccess } from '../access.ts';
import { atLeastZero } from '../client.ts';
import { LEAST_DEPOSIT, PERP_DECIMALS } from '../config.ts';
import { auditedRefusal } from '../../../api/audit/refused.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import { invalidRequest } from '../../../api/http/issues.ts';
import type { Reply } from '../../../api/http/route.ts';
import { makeMovement } from '../../../api/movements/make.ts';
import { planOf } from '../../../api/movements/plan.ts';
import { keyUseOf, replay } from '../../../api/movements/replay.ts';
import { keyOf } from '../../../api/movements/request.ts';
import { reservedVersion } from '../../../api/movements/reserved-version.ts';
import type { CreateResponse } from '../../../api/movements/responses.ts';
import { notBound } from './bindings.ts';
import type { topUpRequest } from './schema.ts';

/** Key of the template; only this route registers its versions and creates movements from them. */
export const TOP_UP_TEMPLATE = 'system/agent-wallet-top-up';

const TOP_UP = {
  template_key: TOP_UP_TEMPLATE,
  name: 'Top up a strategy at the perps venue',
  completion_assurance: 'provider_completed',
} as const;

/** Limit of a request to the venue; short, since a caller waits. */
const ANSWER_WITHIN_MS = 5_000;

interface Input {
  readonly params: { readonly strategy_id: string; readonly agent_name: string };
  readonly body: z.output<typeof topUpRequest>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requester: Requester;
}

/**
 * Creates a movement from the master to the strategy's sub-account. Without a sub-account it is a
 * deposit by the master's signer, since an agent holds no funds. An operator must always approve
 * it. Together with the strategy's value and its open top-ups, the amount may not exceed
 * `max_agent_balance`.
 */
export async function topUp(
  { params: { strategy_id, agent_name }, body, headers, requester }: Input,
  deps: ApiDependencies,
): Promise<Reply<CreateResponse>> {
  // Refuses a header that differs from the key of the body.
  keyOf(body, headers['idempotency-key']);
  const { asset, amount, reason, idempotency_key: key } = body;
  const scope = requester.caller.client_id ?? 'anonymous';
  const request = {
    template_key: TOP_UP_TEMPLATE,
    strategy_id,
    agent_name,
    asset,
    amount,
    reason,
  };
  const subject = {
    action: 'movement.create',
    entity_type: 'movement',
    entity_key: TOP_UP_TEMPLATE,
  } as const;
  return auditedRefusal(deps, requester, { ...subject, details: request }, async () => {
    const used = await keyUseOf({ scope, key }, deps);
    if (used !== null) return replay(used, request, requester.caller, deps);
    const { binding, master, perp } = await toppedUp({ strategy_id, agent_name }, deps);
    mustFit(body, binding, perp);
    const counted = await readOpenTopUps(deps.db, strategy_id);
    const room = await roomOf(binding, perp);
    if (room !== null && compare(amount, room) > 0) throw exceeded(binding, room, '0');
    const node = nodeOf(binding, master, perp, deps);
    const compiled = await planOf(
      {
        template_key: TOP_UP_TEMPLATE,
        template_version: await reservedVersion(node, TOP_UP, requester, deps),
        intent: { asset, amount },
        input_params: {},
      },
      deps,
      { reserved: true, signer: master.signer_key },
    );
    const made = await makeMovement(
      {
        ...compiled,
        requester,
        request,
        strategy_id,
        subject,
        used: { scope, key },
        labels: { agent_name, reason },
        approval_ttl_seconds: deps.settings.approvalTtlSeconds,
        callback_url: null,
        message: `A top-up of ${strategy_id} for agent ${agent_name}: ${reason}`,
        write: async (movement) => {
          const outcome = await createTopUp(
            deps.db,
            { ...movement, auto_approve_result: null },
            { strategy_id, room, counted },
          );
          if (outcome.created === null) throw exceeded(binding, room ?? '0', outcome.under_way);
          return outcome;
        },
      },
      deps,
    );
    return { ...made, status: 200 };
  });
}

/** Returns the strategy, its master and the venue, if the agent is active; else throws. */
async function toppedUp(
  { strategy_id, agent_name }: Input['params'],
  { db, venues }: ApiDependencies,
): Promise<{
  readonly binding: PerpBinding;
  readonly master: PerpMaster;
  readonly perp: PerpAccess;
}> {
  const [binding, wallets, master] = await Promise.all([
    readPerpBinding(db, strategy_id),
    listAgentWallets(db, strategy_id),
    readPerpMaster(db),
  ]);
  if (binding === null || wallets === null) throw notBound(strategy_id);
  const named = wallets.filter((wallet) => wallet.agent_name === agent_name);
  if (named.length === 0)
    throw new ServiceError('agent_wallet_not_found', { context: { strategy_id, agent_name } });
  if (!named.some(({ state }) => state === 'active'))
    throw new ServiceError('agent_wallet_not_active', {
      context: { strategy_id, agent_name, state: named[0]?.state ?? null },
    });
  if (binding.paused)
    throw new ServiceError('strategy_paused', {
      context: { strategy_id, pause_reason: binding.pause_reason },
    });
  const perp = venues?.perp;
  if (perp === undefined) throw new ServiceError('perp_venue_not_bound');
  if (master === null) throw new ServiceError('master_account_missing');
  return { binding, master, perp };
}

function mustFit(
  { asset, amount }: Input['body'],
  { sub_account_address: sub }: PerpBinding,
  { venue }: PerpAccess,
): void {
  const problem = (path: string, message: string) =>
    invalidRequest([{ path, code: 'invalid_value', message }]);
  if (asset !== venue.asset) throw problem('asset', `the perps venue holds ${venue.asset}`);
  if (toBaseUnits(amount, PERP_DECIMALS) === null)
    throw problem('amount', `the perps venue has ${String(PERP_DECIMALS)} decimals`);
  if (compare(amount, '0') <= 0) throw problem('amount', 'must be greater than zero');
  if (sub === null && compare(amount, LEAST_DEPOSIT) < 0)
    throw problem('amount', `a deposit of less than ${LEAST_DEPOSIT} is lost at the venue`);
}

/** Returns how much more the strategy may have; null if it has no `max_agent_balance`. */
async function roomOf(
  { max_agent_balance: most, sub_account_address: sub }: PerpBinding,
  { client, venue }: PerpAccess,
): Promise<string | null> {
  if (most === null) return null;
  try {
    const call = { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) };
    const { account_value: value } = await client.state(sub ?? venue.account, call);
    const has = atLeastZero(value);
    return compare(has, most) >= 0 ? '0' : subtract(most, has);
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    throw new ServiceError('venue_unavailable', { cause: error });
  }
}

function exceeded({ max_agent_balance }: PerpBinding, room: string, under_way: string) {
  return new ServiceError('max_agent_balance_exceeded', {
    context: { max_agent_balance, room, under_way },
  });
}

function nodeOf(
  { sub_account_address: sub }: PerpBinding,
  { signer_key }: PerpMaster,
  { venue }: PerpAccess,
  { signers, chains }: ApiDependencies,
): TemplateNode {
  const { chain_family = 'evm', profile } =
    signers.list().find((signer) => signer.signer_key === signer_key) ?? {};
  const { venue_key, asset, chain_id, deposit_address } = venue;
  const token = chains
    .find((chain) => chain.chain_id === chain_id)
    ?.tokens.find((each) => each.asset === asset)?.address;
  const [action_type, config]: [string, JsonObject] =
    sub === null
      ? [
          'perp_deposit',
          { chain_id, token_address: token ?? '', destination_address: deposit_address },
        ]
      : ['agent_wallet_top_up', { sub_account_address: checksummed(sub) }];
  return {
    node_key: 'top-up',
    node_kind: 'action',
    action_type,
    has_side_effect: true,
    executor_selector: { action_type, provider: 'perp' },
    signer_selector: { chain_family, ...(profile === undefined ? {} : { profile }) },
    config: { venue: venue_key, asset, ...config },
  };
}
