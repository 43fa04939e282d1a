/** Finds the amount of a node, if it is known yet, and checks it against its limits. */
import {
  exceedsMax,
  maxAmount,
  parseAmountSource,
  resolveAmount,
} from '../../domain/plan/amount.ts';
import type { JsonObject } from '../../domain/json.ts';
import { tokenMismatch, type ChainAssets } from '../../domain/plan/tokens.ts';
import type { PhaseRow } from '../../store/phases.ts';

/** Returns the node's amount; null while the output that it refers to has no amount. */
export function amountOf(row: PhaseRow): string | null {
  return (
    row.amount ??
    resolveAmount(row.node.config, row.plan.intent.amount, (key) => row.outputs[key] ?? null)
  );
}

type Sendable =
  | { readonly ok: true; readonly amount: string }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Returns the node's amount if it is known and within every limit, or why nothing may be sent. */
export function allowedAmount(row: PhaseRow): Sendable {
  const amount = amountOf(row);
  if (amount === null)
    return {
      ok: false,
      code: 'AMOUNT_UNRESOLVED',
      message: unresolved(row.node.config),
    };
  const limit = maxAmount(row.plan.risk_controls, row.node.risk_patch);
  if (!exceedsMax(amount, limit)) return { ok: true, amount };
  return {
    ok: false,
    code: 'MAX_AMOUNT_EXCEEDED',
    message: `${amount} is more than max_amount ${limit ?? ''}`,
  };
}

/** Longest part of an invalid amount that a message repeats. */
const LONGEST_AMOUNT = 80;

function unresolved(config: JsonObject): string {
  const source = parseAmountSource(config);
  return source.kind === 'invalid'
    ? `${source.text.slice(0, LONGEST_AMOUNT)} is neither a decimal text nor a reference to an amount`
    : 'the amount refers to the output of a node that has no amount';
}

/**
 * Returns {@link allowedAmount} if the venues file still lists the node's token as the asset of the
 * amount; otherwise why nothing may be sent.
 */
export function amountToSend(row: PhaseRow, chains: ChainAssets): Sendable {
  const amount = allowedAmount(row);
  const mismatch = tokenMismatch(row.node, chains);
  if (!amount.ok || mismatch === null) return amount;
  const { asset, token_asset, token_address, chain_id } = mismatch;
  const token = `${token_address ?? 'the native coin'} of chain ${chain_id ?? ''}`;
  return {
    ok: false,
    code: 'TOKEN_ASSET_MISMATCH',
    message: `${token} is ${token_asset ?? 'not listed'}, not ${asset}`,
  };
}
