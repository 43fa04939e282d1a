/** Which row of the registry is a chain of the venues file. */
import { chainRowOf } from '../../../domain/bridges/chain-row.ts';

const endpoint = (digit: string): string => `0x${digit.repeat(40)}`;
const row = (chain: string, digit: string) => ({
  chain,
  endpoint_identity: `30184:${endpoint(digit)}`,
});
const rows = [row('8453', 'A'), row('base', 'b'), row('other', 'c')];
const base = { chain_id: 8453, venue_key: 'base', endpoint_identity: null };

test.each([
  ['the venue key before the chain id', 'base', base],
  ['the chain id where no row has the key', '8453', { ...base, venue_key: 'else' }],
  ['the chain id of a chain that is not bound', '8453', { ...base, venue_key: null }],
  ['no row', undefined, { ...base, chain_id: 1, venue_key: 'else' }],
  [
    'the endpoint, however its letters are written',
    '8453',
    { ...base, endpoint_identity: `30184:${endpoint('a')}` },
  ],
  // Its name is still there, and another endpoint is behind it.
  ['no name in place of an endpoint', undefined, { ...base, endpoint_identity: '1:0xdd' }],
])('%s', (_what, chain, names) => {
  expect(chainRowOf(rows, names)?.chain).toBe(chain);
});
