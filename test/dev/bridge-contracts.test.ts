/** What is checked in of the bridges' contracts was made of their present texts. */
import { readFileSync } from 'node:fs';
import { toEventSelector, toFunctionSelector, type Abi } from 'viem';
import {
  ENDPOINT,
  MESSAGE_TRANSMITTER,
  OMNI_TOKEN,
  TOKEN_MESSENGER,
} from '../../dev/simulators/bridge/contracts/artifacts.ts';
import { ARTIFACTS_FILE, sourcesLine } from '../../dev/simulators/bridge/contracts/sources.ts';
import { FAR, NEAR } from '../../dev/simulators/bridge/lanes.ts';
import * as read from '../../venues/burn-mint/contracts.ts';

test('the artifacts are of these contracts; `npm run contracts` writes them', () => {
  expect(readFileSync(ARTIFACTS_FILE, 'utf8').split('\n')).toContain(sourcesLine());
});

test('no contract has the same address on both chains', () => {
  const addresses = [NEAR, FAR].flatMap(({ contracts }) => Object.values(contracts));
  expect(new Set(addresses).size).toBe(10);
});

/** Functions and events by what identifies them on a chain. */
function identities(abi: Abi): readonly string[] {
  return abi.flatMap((entry) => {
    if (entry.type === 'function') return [`${toFunctionSelector(entry)} ${entry.stateMutability}`];
    if (entry.type !== 'event') return [];
    const indexed = entry.inputs.map((input) => (input.indexed === true ? 'i' : '-')).join('');
    return [`${toEventSelector(entry)} ${indexed}`];
  });
}

test('the burn-and-mint contracts have what the service reads of the published ones', () => {
  const messenger = identities(TOKEN_MESSENGER.abi);
  const transmitter = identities(MESSAGE_TRANSMITTER.abi);
  expect(messenger).toEqual(expect.arrayContaining([...identities(read.TOKEN_MESSENGER)]));
  expect(transmitter).toEqual(expect.arrayContaining([...identities(read.MESSAGE_TRANSMITTER)]));
});

test('the omnichain contracts have the selectors of those that are deployed', () => {
  expect(identities(OMNI_TOKEN.abi)).toEqual(
    expect.arrayContaining([
      '0xc7c7f5b3 payable',
      '0x3b6f743b view',
      '0x85496b760a4b7f8d66384b9df21b381f5d1b1e79f229a47aaf4c232edc2fe59a i-i--',
      '0xefed6d3500546b29533b128a29e3a94d70788727f0507505ac12eaf2e578fd9c i-i-',
    ]),
  );
  expect(identities(ENDPOINT.abi)).toEqual(
    expect.arrayContaining([
      '0x1ab700d4ced0c005b164c0f789fd09fcbb0156d4c2041b8a3bfbcd961cd1567f ---',
      '0x3cd5e48f9730b129dc7550f0fcea9c767b7be37837cd10e55eb35f734f4bca04 --',
      '0x0d87345f3d1c929caba93e1c3821b54ff3512e12b66aa3cfe54b6bcbc17e59b4 ---',
    ]),
  );
});
