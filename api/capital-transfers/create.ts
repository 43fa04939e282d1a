/** POST /capital-transfers */
import { actorOf, auditOf, type Requester } from '../../domain/commands/context.ts';
import {
  brokenRule,
  TOPOLOGY_RULES,
  TRANSFER_ACCOUNT_TYPES,
  transferEntries,
} from '../../domain/capital-transfers/topology.ts';
import type {
  TransferAccount,
  TransferAccountType,
} from '../../domain/capital-transfers/topology.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import {
  createTransfer,
  readTransfer,
  readTransferKeyUse,
  type CreateTransferOutcome,
  type TransferKeyUse,
} from '../../store/capital-transfers.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { refreshBefore, takeAt, uncoveredError } from '../balances/cover.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { afterAccepting } from '../http/accepted.ts';
import { differingFields } from '../http/differences.ts';
import type { Reply } from '../http/route.ts';
import { keyOf } from '../movements/request.ts';
import { toView } from './read.ts';
import type { TransferCreateBody, TransferView } from './schema.ts';

/** A request whose accounts are known; one provider moves funds between the two accounts. */
interface Permitted {
  readonly provider: string;
  readonly source_account_type: TransferAccountType;
  readonly destination_account_type: TransferAccountType;
  readonly venue_entries: string | null;
}

/**
 * Takes the hold and stores the transfer; a repeated request returns the first transfer. The
 * idempotency key is looked up first, so that a repeat gets its result whatever has changed since.
 */
export async function create(
  input: {
    readonly body: TransferCreateBody;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<TransferView>> {
  const { body, headers, requester } = input;
  // Refuses a header that differs from the key of the body.
  keyOf(body, headers['idempotency-key']);
  const scope = requester.caller.client_id ?? 'anonymous';
  const request = normalForm(body);
  const subject = {
    action: 'capital_transfer.create',
    entity_type: 'capital_transfer',
    entity_key: body.idempotency_key,
  } as const;
  return auditedRefusal(deps, requester, subject, async () => {
    const used = await readTransferKeyUse(deps.db, scope, body.idempotency_key);
    if (used !== null) return replay(used, request, deps);
    const outcome = await stored({ ...input, scope, request, permitted: permit(body, deps) }, deps);
    if (outcome.created === null) throw uncoveredError(outcome.uncovered);
    if (!outcome.created) return replay(outcome, request, deps);
    deps.transfers?.handOver(outcome.transfer_id, 'create');
    return { status: 201, body: await afterAccepting(() => view(outcome.transfer_id, deps)) };
  });
}

/** Returns every field but the key and the reason, after defaults, upper-casing and normalising. */
function normalForm(body: TransferCreateBody): JsonObject {
  const { reason: _reason, idempotency_key: _key, strategy_id, callback_url, ...rest } = body;
  return {
    ...rest,
    strategy_id: strategy_id ?? null,
    ...(callback_url === undefined ? {} : { callback_url }),
  };
}

async function stored(
  input: {
    readonly body: TransferCreateBody;
    readonly requester: Requester;
    readonly scope: string;
    readonly request: JsonObject;
    readonly permitted: Permitted;
  },
  deps: ApiDependencies,
): Promise<CreateTransferOutcome> {
  const { body, requester, scope, request, permitted } = input;
  const { client_id, key_id, role } = requester.caller;
  // The query of the callback address may hold a token.
  const { callback_url: _url, ...details } = request;
  const transfer = {
    ...body,
    ...permitted,
    strategy_id: body.strategy_id ?? null,
    callback_url: body.callback_url ?? null,
    client_scope: scope,
    request,
    created_by: { client_id, key_id, role },
  };
  const hold = {
    venue_key: body.source_venue,
    account_type: permitted.source_account_type,
    asset: body.asset,
    amount: body.amount,
  };
  const about = {
    hold,
    take: takeAt(deps),
    event: {
      event_type: 'transfer_created',
      message: 'Created; its amount is held at the source',
      actor: actorOf(requester),
    },
    audit: (transferId: string) => [
      auditOf(requester, {
        action: 'capital_transfer.create',
        entity_type: 'capital_transfer',
        entity_key: transferId,
        reason: body.reason,
        details,
      }),
    ],
  } as const;
  const since = performance.now();
  const outcome = await createTransfer(deps.db, transfer, about);
  if (outcome.created !== null || !(await refreshBefore(outcome.uncovered, since, deps)))
    return outcome;
  return createTransfer(deps.db, transfer, about);
}

/** Throws when no provider would make this transfer, before any funds are held for the transfer. */
function permit(body: TransferCreateBody, { transfers }: ApiDependencies): Permitted {
  const source_account_type = accountType('source_account_type', body.source_account_type);
  const destination_account_type = accountType(
    'destination_account_type',
    body.destination_account_type,
  );
  const accounts = transfers?.accounts ?? [];
  const source = account('source_venue', body.source_venue, accounts);
  const destination = account('destination_venue', body.destination_venue, accounts);
  if (source.provider !== destination.provider || source.scope !== destination.scope) {
    throw new ServiceError('provider_mismatch', {
      context: { source_provider: source.provider, destination_provider: destination.provider },
    });
  }
  const rule = brokenRule(
    { account: source, account_type: source_account_type },
    { account: destination, account_type: destination_account_type },
  );
  if (rule !== null) {
    throw new ServiceError('topology_not_supported', {
      message: `Not supported: ${TOPOLOGY_RULES[rule]}.`,
      context: { rule },
    });
  }
  return {
    provider: source.provider,
    source_account_type,
    destination_account_type,
    venue_entries: transferEntries(source, destination),
  };
}

function accountType(field: string, value: string): TransferAccountType {
  const known = TRANSFER_ACCOUNT_TYPES.find((each) => each === value);
  if (known !== undefined) return known;
  throw new ServiceError('account_type_not_supported', {
    context: { field, account_type: value, supported: TRANSFER_ACCOUNT_TYPES },
  });
}

function account(
  field: string,
  venue_key: string,
  accounts: readonly TransferAccount[],
): TransferAccount {
  const found = accounts.find((each) => each.venue_key === venue_key);
  if (found === undefined)
    throw new ServiceError('venue_not_found', { context: { field, venue_key } });
  return found;
}

/** Returns the first transfer's current state, or throws the conflict with the differing fields. */
async function replay(
  used: TransferKeyUse,
  request: JsonObject,
  deps: ApiDependencies,
): Promise<Reply<TransferView>> {
  const fields = differingFields(used.request, request);
  const { transfer_id } = used;
  if (fields.length > 0)
    throw new ServiceError('idempotency_conflict', { context: { transfer_id, fields } });
  return {
    status: 200,
    headers: { 'Idempotent-Replayed': 'true' },
    body: await view(transfer_id, deps),
  };
}

async function view(transferId: string, deps: ApiDependencies): Promise<TransferView> {
  const found = await readTransfer(deps.db, transferId);
  if (found === null) throw new Error(`capital transfer ${transferId} was stored but has no row`);
  return toView(found, deps.redact);
}
