/** Handlers of the dashboard's allowlist routes. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { ADDRESS_PROBLEMS, looksLike, normalAddress } from '../../domain/allowlist/address.ts';
import { ServiceError } from '../../domain/errors.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import {
  allowAddress,
  listAllowed,
  readAlike,
  setAllowedAddress,
  type Allowed,
  type AllowlistChange,
} from '../../store/allowlist.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { invalidRequest } from '../http/issues.ts';
import { fetchPage, splitPage } from '../http/paging.ts';
import type { Reply } from '../http/route.ts';
import type { AllowBody, ChangeResponse, listQuery, listResponse } from './schema.ts';

type Deps = Pick<ApiDependencies, 'db'>;

/** The role in audit rows; unchanged from the time when operators had no roles. */
const WRITER_ROLE = 'dashboard';

/** Returns a page of rows, newest first; only rows in force unless the query includes all. */
export async function list(
  { query }: { readonly query: z.output<typeof listQuery> },
  { db }: Deps,
): Promise<Reply<z.input<typeof listResponse>>> {
  const [pageQuery, filter] = splitPage(query);
  const { items, next_cursor } = await fetchPage(
    pageQuery,
    (page) => listAllowed(db, filter, page),
    ({ created_at, id }) => ({ created_at, id }),
  );
  return { status: 200, body: { allowed_addresses: items, next_cursor } };
}

/** Puts an address on the list. An address already in force stays unchanged. */
export async function allow(
  { body, requester }: { readonly body: AllowBody; readonly requester: Requester },
  { db }: Deps,
  cooling: number | null,
): Promise<Reply<ChangeResponse>> {
  const { reason, label, chain_family, chain_id } = body;
  const normal = normalAddress(chain_family, body.address, readEvmAddress);
  if (!normal.ok)
    throw invalidRequest([
      {
        path: 'address',
        code: `address_${normal.problem}`,
        message: ADDRESS_PROBLEMS[normal.problem],
      },
    ]);
  const key = { chain_family, chain_id, address: normal.address };
  const alike = (await readAlike(db, key)).filter((address) => looksLike(address, key.address));
  return replyOf(
    await allowAddress(db, { ...key, label }, changeOf(requester, reason, cooling)),
    alike,
  );
}

export interface RowInput {
  readonly params: { readonly id: string };
  readonly body: { readonly reason: string };
  readonly requester: Requester;
}

/**
 * Revokes a row (`active` false) or puts the row back in force. A row already in that state stays
 * unchanged.
 */
export async function setActive(
  { params: { id }, body: { reason }, requester }: RowInput,
  { db }: Deps,
  { active, cooling }: { readonly active: boolean; readonly cooling: number | null },
): Promise<Reply<ChangeResponse>> {
  const allowed = await setAllowedAddress(db, id, active, changeOf(requester, reason, cooling));
  if (allowed === null) throw new ServiceError('allowed_address_not_found', { context: { id } });
  return replyOf(allowed, []);
}

function changeOf(requester: Requester, reason: string, cooling: number | null): AllowlistChange {
  return {
    by: requester.caller.dashboard?.operator ?? '',
    reason,
    cooling_seconds: cooling,
    audit: (action, id) => ({
      ...auditOf(requester, { action, entity_type: 'allowed_address', entity_key: id, reason }),
      actor_role: WRITER_ROLE,
    }),
  };
}

function replyOf({ outcome, row }: Allowed, alike: readonly string[]): Reply<ChangeResponse> {
  if (outcome === 'taken' || outcome === 'moved')
    throw new Error(`a change of the allowlist returned an unexpected outcome: ${outcome}`);
  const message =
    'An address that is on the list begins and ends with the same characters; compare every one of them.';
  return {
    status: 200,
    body: {
      ...row,
      outcome,
      warnings: alike.length === 0 ? [] : [{ code: 'look_alike', message, addresses: alike }],
    },
  };
}
