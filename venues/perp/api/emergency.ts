/** GET …/emergency-state: returns a strategy's venue account, agents and movements at once. */
import type { z } from 'zod';
import { agentOf } from '../../../store/namespaces.ts';
import type { Requester } from '../../../domain/commands/context.ts';
import type { PerpAccount } from '../../../domain/perps/registry.ts';
import { namespaceOf } from '../../../domain/roles.ts';
import {
  notePerpAccount,
  readStrategyState,
  type StrategyState,
} from '../../../store/perp-venue.ts';
import { shareLooks } from '../../../platform/shared-look.ts';
import type { PerpAccess } from '../access.ts';
import { keepsPerpsApart } from '../config.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import type { Reply } from '../../../api/http/route.ts';
import { notBound, type OfStrategy } from './bindings.ts';
import type { emergencyResponse } from './schema.ts';
import { walletView } from './shown.ts';

/** Callers within this time share one read of the venue. */
const SHARED_FOR_MS = 1_000;
const looks = new WeakMap<object, ReturnType<typeof shareLooks<PerpAccount | null>>>();

/** Limit of a request to the venue; short, since an operator waits in an emergency. */
const ANSWER_WITHIN_MS = 2_500;

/**
 * Reads the venue now, at most once a second for all callers. If the venue does not answer, returns
 * its last answer with the time of that answer and `stale`.
 */
export async function emergencyState(
  { params: { strategy_id }, requester }: OfStrategy & { readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof emergencyResponse>>> {
  const authority = agentOf(namespaceOf(requester.caller));
  const known = await readStrategyState(deps.db, { strategy_id, authority });
  if (known === null) throw notBound(strategy_id);
  const now = await lookAt(known, deps);
  const { withdrawable, account_value, open_positions, checked_at } =
    now ?? known.seen ?? NEVER_SEEN;
  return {
    status: 200,
    body: {
      strategy_id,
      paused: known.binding.paused,
      agent_wallets: known.agent_wallets.map(walletView),
      open_movements: known.open_movements,
      open_movement_count: known.open_movement_count,
      venue: { withdrawable, account_value, open_positions },
      checked_at,
      stale: now === null,
    },
  };
}

const NEVER_SEEN = {
  withdrawable: null,
  account_value: null,
  open_positions: null,
  checked_at: null,
};

/** Returns the venue's account, at most a second old; null if the venue does not answer. */
async function lookAt(state: StrategyState, deps: ApiDependencies): Promise<PerpAccount | null> {
  const perp = deps.venues?.perp;
  if (perp === undefined) return null;
  const shared = looks.get(perp) ?? shareLooks<PerpAccount | null>(SHARED_FOR_MS);
  looks.set(perp, shared);
  return shared(state.account, () => askVenue(state, perp, deps));
}

/**
 * Reads the account from the venue; null if the venue does not answer, or if its answer does not
 * cover all funds of the account.
 */
async function askVenue(
  { account, at }: StrategyState,
  perp: PerpAccess,
  { db, log }: ApiDependencies,
): Promise<PerpAccount | null> {
  const call = { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) };
  try {
    const [state, mode] = await Promise.all([
      perp.client.state(account, call),
      perp.client.mode(account, call),
    ]);
    if (!keepsPerpsApart(mode)) {
      log.warn(
        { account, mode },
        'the account keeps perps and spot together, so its balances cannot be read',
      );
      return null;
    }
    // `at` is from before the request, so the answer is not older than `checked_at`.
    const seen = { ...state, checked_at: at };
    await notePerpAccount(db, { ...seen, address: account }).catch((error: unknown) =>
      log.warn({ account, err: error }, 'the perps venue’s answer was not stored'),
    );
    return seen;
  } catch (error) {
    log.warn({ account, err: error }, 'the perps venue did not answer');
    return null;
  }
}
