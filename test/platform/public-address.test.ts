/** Addresses of the public internet, and all the others. */
import { isLoopbackAddress, isPublicAddress } from '../../platform/outgoing/public-address.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '223.255.255.254',
  '2606:4700::1111',
  '2a00::1',
];

const NOT_PUBLIC: readonly (readonly [string, readonly string[]])[] = [
  ['this machine', ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1']],
  ['no address', ['0.0.0.0', '0.1.2.3', '::']],
  [
    'private',
    [
      '10.0.0.1',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.0.1',
      'fc00::1',
      'fd00:ec2::254',
      'fdff::1',
    ],
  ],
  [
    'link-local, where clouds keep their metadata',
    ['169.254.0.1', '169.254.169.254', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  ],
  ['shared by carriers', ['100.64.0.1', '100.100.100.200', '100.127.255.255']],
  [
    'multicast and broadcast',
    ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1', 'ff0e::1'],
  ],
  [
    'reserved, documentation, benchmarks',
    [
      '192.0.0.1',
      '192.0.2.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.9',
      '240.0.0.1',
      '2001:db8::1',
      '3fff::1',
      '2001:2::1',
    ],
  ],
  [
    'IPv4 in IPv6',
    [
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:8.8.8.8',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '::7f00:1',
      '::a00:1',
      '::808:808',
    ],
  ],
  [
    'translated and tunnelled',
    [
      '64:ff9b::7f00:1',
      '64:ff9b::8.8.8.8',
      '64:ff9b:1::1',
      '2002:7f00:1::1',
      '2001::1',
      '2002:808:808::1',
    ],
  ],
  ['outside what IPv6 gives out', ['4000::1', '1::1', '100::1', '5f00::1', 'fec0::1', 'e000::1']],
  [
    'not in full notation',
    [
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '010.8.8.8',
      '8.8.8',
      '8.8.8.8.',
      ' 8.8.8.8',
      '[2606:4700::1]',
      'localhost',
      '',
    ],
  ],
];

test.each(PUBLIC)('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each(
  NOT_PUBLIC.flatMap(([what, addresses]) => addresses.map((address) => [what, address] as const)),
)('%s: %j is not', (_what, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test('loopback is recognised', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1'].map(isLoopbackAddress)).toEqual([true, true, true]);
  expect(
    ['10.0.0.1', '::ffff:127.0.0.1', '0.0.0.0', '::', '8.8.8.8', 'x'].some(isLoopbackAddress),
  ).toBe(false);
});
