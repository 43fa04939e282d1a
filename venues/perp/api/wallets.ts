/** Handlers of agent wallets: the accounts that may sign orders for a strategy. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../../domain/commands/context.ts';
import { ServiceError } from '../../../domain/errors.ts';
import type { AgentWallet } from '../../../domain/perps/registry.ts';
import { checksummed } from '../../../platform/evm-address.ts';
import {
  createAgentWallet,
  listAgentWallets,
  type WalletChange,
} from '../../../store/perp-venue.ts';
import { auditedRefusal } from '../../../api/audit/refused.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import { invalidRequest } from '../../../api/http/issues.ts';
import type { Reply } from '../../../api/http/route.ts';
import { notBound, type OfStrategy } from './bindings.ts';
import type { walletCreate, walletList, walletResponse } from './schema.ts';
import { subjectOf, walletView } from './shown.ts';
import { addressOfSigner } from './signer.ts';

type Body = z.output<typeof walletCreate>;
type Answer = Reply<z.input<typeof walletResponse>>;

export async function listWallets(
  { params: { strategy_id } }: OfStrategy,
  { db }: ApiDependencies,
): Promise<Reply<z.input<typeof walletList>>> {
  const found = await listAgentWallets(db, strategy_id);
  if (found === null) throw notBound(strategy_id);
  return { status: 200, body: found.map(walletView) };
}

/**
 * Stores an agent and the nonce of its approval, which a worker signs and sends. Reads the signer's
 * address first; an equal repeat returns the wallet without this read.
 */
export async function createWallet(
  {
    params: { strategy_id },
    body,
    requester,
  }: OfStrategy & { readonly body: Body; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Answer> {
  const subject = subjectOf(
    'perp_agent_wallet',
    'create',
    `${strategy_id}/${body.agent_name}`,
    body,
  );
  return auditedRefusal(deps, requester, subject, async () => {
    const wallets = await listAgentWallets(deps.db, strategy_id);
    if (wallets === null) throw notBound(strategy_id);
    const known = wallets.find((each) => isRepeat(each, body));
    if (known !== undefined) return repeated(known);
    const address = await addressOfSigner(body.signer_key, deps);
    const requested = { ...body, strategy_id, address };
    const change = await createAgentWallet(deps.db, requested, auditOf(requester, subject));
    if (change === null) throw notBound(strategy_id);
    return replyOf(change, requested);
  });
}

function isRepeat(
  { agent_name, signer_key, valid_until, state }: AgentWallet,
  body: Body,
): boolean {
  return (
    (state === 'pending' || state === 'active') &&
    agent_name === body.agent_name &&
    signer_key === body.signer_key &&
    (body.valid_until ?? valid_until) === valid_until
  );
}

function repeated(known: AgentWallet): Answer {
  return { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: walletView(known) };
}

function replyOf(change: WalletChange, requested: Body & { readonly address: string }): Answer {
  const { agent_name, address } = requested;
  switch (change.outcome) {
    case 'created':
      return { status: 200, body: walletView(change.row) };
    case 'same':
      return repeated(change.row);
    case 'agent_wallet_pending':
      throw new ServiceError('agent_wallet_pending', {
        context: { agent_name, wallet_id: change.row.wallet_id },
      });
    case 'agent_name_taken':
      throw new ServiceError('agent_name_taken', { context: { agent_name } });
    case 'agent_address_reused':
      throw new ServiceError('agent_address_reused', {
        context: { address: checksummed(address) },
      });
    case 'valid_until_out_of_range':
      throw invalidRequest([
        {
          path: 'valid_until',
          code: 'invalid_value',
          message: 'must be in the future, and at most 180 days ahead',
        },
      ]);
  }
}
