/** What the templates of the embedded stack leave to the service's own defaults. */
import { chainInfo } from '../../dev/simulators/chain/accounts.ts';
import { starterTemplates } from '../../dev/stack/starter-templates.ts';

const side = (chainId: number) =>
  ({ chainId, contracts: { burnToken: '0x01', tokenMessenger: '0x02' } }) as never;
const perp = {
  ...{ venueKey: 'perp', asset: 'USDC', chainId: 1 },
  ...{ tokenAddress: '0x03', depositAddress: '0x04' },
} as never;

test('no starter ends by the clock what is sent: silence is shown, and is no time-out', () => {
  const templates = starterTemplates(chainInfo(0), { near: side(1), far: side(2) }, perp);
  expect(templates).toHaveLength(7);
  expect(JSON.stringify(templates)).not.toContain('observe_seconds');
});
