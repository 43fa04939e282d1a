/** An allowance of an ended movement that still lets a spender pull funds. */
export interface Allowance {
  /** In units of the asset. */
  readonly amount: string;
  readonly asset: string;
  readonly spender: string;
}

/** Returns the sentence that says how these allowances are taken back. */
export function setsToZero(open: readonly Allowance[]): string {
  const of = open.map(({ amount, asset, spender }) => `${amount} ${asset} for ${spender}`);
  return `Set each of these allowances to 0 with a separate movement: ${of.join('; ')}.`;
}
