/** What an ended movement still allows others to pull. */
export interface Allowance {
  /** In units of the asset. */
  readonly amount: string;
  readonly asset: string;
  readonly spender: string;
}

/** The consequence of taking them back, in a sentence. */
export function setsToZero(open: readonly Allowance[]): string {
  const of = open.map(({ amount, asset, spender }) => `${amount} ${asset} for ${spender}`);
  return `A movement of its own sets each of these allowances to 0: ${of.join('; ')}.`;
}
