/** Whom the plans of a world pay. */

/** Nodes that send on the chain, or at an exchange. */
export const TRANSFERS = [
  'send',
  'final',
  'forward',
  'one',
  'two',
  'attempt',
  'before-gate',
] as const;
export type TransferNode = (typeof TRANSFERS)[number];

/** By name of the node; each has its own, so that the chain's books tell whose a transfer is. */
export const PAYEES: Readonly<Record<string, string>> = {
  desk: `0x${'ab'.repeat(20)}`,
  ...Object.fromEntries(
    TRANSFERS.map((name, index) => [name, `0x${`c${String(index)}`.repeat(20)}`]),
  ),
};
