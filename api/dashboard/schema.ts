/** The wire contract of the dashboard: the allowlist, and nothing else. */
import { z } from 'zod';
import { CHAIN_FAMILIES } from '../../domain/allowlist/address.ts';
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
    label: text(1, 128).nullable().default(null),
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
export const changeResponse = z.object({
  ...row,
  outcome: z.enum(['created', 'reactivated', 'revoked', 'unchanged']),
  warnings: listOf(
    z.object({ code: z.string(), message: z.string(), addresses: listOf(z.string()) }),
  ),
});
export type ChangeResponse = z.input<typeof changeResponse>;
