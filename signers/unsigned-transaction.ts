/** Checks the wire form of an unsigned EIP-1559 transaction before anything is signed. */
import { z } from 'zod';
import type { EvmUnsignedTransaction } from '../domain/executor.ts';
import { issuesLine } from '../platform/issues.ts';

// Both checks are in one rule: a separate later rule would still run on text for which BigInt
// throws.
const isUint256 = (text: string) =>
  /^(0|[1-9][0-9]{0,77})$/.test(text) && BigInt(text) < 2n ** 256n;
const integer = z.string().refine(isUint256, 'must be a decimal integer string below 2^256');

const schema = z.strictObject({
  chain_id: z.number().int().positive(),
  to: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits'),
  value: integer,
  data: z.string().regex(/^0x([0-9a-fA-F]{2})*$/, 'must be 0x and whole bytes in hex'),
  gas: integer,
  max_fee_per_gas: integer,
  max_priority_fee_per_gas: integer,
});

/**
 * Reads a payload strictly: a field that {@link EvmUnsignedTransaction} does not have is a fault,
 * since everything that is signed must have been checked. `problem` names the field but not its
 * value.
 */
export function readUnsignedTransaction(
  payload: unknown,
):
  | { readonly ok: true; readonly unsigned: EvmUnsignedTransaction }
  | { readonly ok: false; readonly problem: string } {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return { ok: true, unsigned: parsed.data };
  return { ok: false, problem: issuesLine(parsed.error, { whole: 'the transaction' }) };
}
