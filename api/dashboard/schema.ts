/** The wire contract of the dashboard's own routes: the allowlist, enrolment and sessions. */
import { z } from 'zod';
import { CHAIN_FAMILIES } from '../../domain/allowlist/address.ts';
import { OPERATOR_ROLES } from '../../domain/roles.ts';
import { DASHBOARD_KEY_STATES } from '../../domain/states/dashboard-key.ts';
import { OPERATOR_NAME } from '../../platform/dashboard-keys.ts';
import { TOKEN } from '../../platform/one-time.ts';
import { allowlistLabel } from '../../platform/seen-text.ts';
import { nextCursor, pageParameters } from '../http/paging.ts';
import {
  booleanInQuery,
  int32,
  integerInQuery,
  listOf,
  MAX_INT,
  text,
  timestamp,
  uuid,
} from '../http/schemas.ts';

const reason = text(1, 1_000).refine((words) => words.trim() !== '', 'must say why');

export const listQuery = z.strictObject({
  chain_family: z.enum(CHAIN_FAMILIES).optional(),
  chain_id: integerInQuery(1, MAX_INT).optional(),
  include_inactive: booleanInQuery.default(false),
  ...pageParameters,
});

export const allowBody = z
  .strictObject({
    chain_family: z.enum(CHAIN_FAMILIES),
    address: text(1, 256),
    chain_id: int32(1).nullable().default(null),
    label: allowlistLabel.nullable().default(null),
    reason,
  })
  .refine(({ chain_family, chain_id }) => chain_family === 'evm' || chain_id === null, {
    path: ['chain_id'],
    message: 'must be null for an exchange: its rows count for every chain',
  });
export type AllowBody = z.output<typeof allowBody>;

export const reasonBody = z.strictObject({ reason });
export const rowParams = z.strictObject({ id: uuid });

const row = {
  id: uuid,
  chain_family: z.enum(CHAIN_FAMILIES),
  address: z.string(),
  chain_id: z.int().nullable(),
  label: z.string().nullable(),
  reason: z.string(),
  active: z.boolean(),
  usable_after: timestamp.nullable(),
  created_by: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  revoked_at: timestamp.nullable(),
  revoked_by: z.string().nullable(),
};

export const listResponse = z.object({
  allowed_addresses: listOf(z.object(row)),
  next_cursor: nextCursor,
});
export type AllowedAddressList = z.output<typeof listResponse>;
export type AllowedAddress = AllowedAddressList['allowed_addresses'][number];
export const changeResponse = z.object({
  ...row,
  outcome: z.enum(['created', 'reactivated', 'revoked', 'unchanged']),
  warnings: listOf(
    z.object({ code: z.string(), message: z.string(), addresses: listOf(z.string()) }),
  ),
});
export type ChangeResponse = z.input<typeof changeResponse>;
export type AllowedAddressChange = z.output<typeof changeResponse>;

/** Form of a secret: random, and at least as long as 256 bits in base64url. */
export const SECRET = /^[A-Za-z0-9+/=_-]{43,128}$/;

export const enrolBody = z.strictObject({
  code: z.string().regex(TOKEN),
  /** The operator that the link is for, if the page knows; a different operator is refused. */
  operator: z.string().regex(OPERATOR_NAME).optional(),
  secret: z.string().regex(SECRET),
});
export type EnrolBody = z.output<typeof enrolBody>;

export const enrolResponse = z.object({
  operator: z.string(),
  role: z.enum(OPERATOR_ROLES),
  allowlist: z.boolean(),
  /** `pending` until `fundadmin dashboard confirm`. */
  state: z.enum(DASHBOARD_KEY_STATES),
  fingerprint: z.string(),
});
export type EnrolResponse = z.output<typeof enrolResponse>;

export const sessionResponse = z.object({
  operator: z.string(),
  role: z.enum(OPERATOR_ROLES),
  allowlist: z.boolean(),
  expires_in_seconds: z.int(),
  idle_seconds: z.int(),
});

export const endSessionResponse = z.object({ ended: z.literal(true) });
