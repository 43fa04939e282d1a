/** What both ways of the demo tell, and of which movement. */
import type { TimelineEvent } from './demo-api.ts';
import type { ChainInfo } from './stack/chain.ts';

export const AMOUNT = '250.5';

/** Events after which the movement rests. */
export const RESTING: readonly string[] = [
  ...['completed', 'failed', 'rejected', 'expired', 'cancelled', 'attention'],
].map((end) => `request_${end}`);

/** The body that creates the demo's movement. */
export function demoMovement(
  template: { readonly template_key: string; readonly version: number },
  chain: ChainInfo,
): object {
  return {
    template_key: template.template_key,
    template_version: template.version,
    intent: {
      asset: 'USDC',
      amount: AMOUNT,
      source_venue: 'paper-main',
      destination_address: chain.accounts.treasury.address,
      chain_id: chain.chainId,
    },
    strategy_id: 'demo',
    labels: { purpose: 'demo' },
  };
}

/** An event of the timeline in one line. */
export function line(event: TimelineEvent): string {
  const what =
    event.node_key === null ? event.event_type : `${event.node_key} · ${event.event_type}`;
  return `${event.occurred_at.slice(11, 23)}  ${what.padEnd(34)} ${event.message}`;
}

/** To standard error; standard output is for the one line of JSON at the end. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
