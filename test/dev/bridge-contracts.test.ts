/** What is checked in of the bridges' contracts was made of their present texts. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ARTIFACTS_FILE, sourcesLine } from '../../dev/simulators/bridge/contracts/sources.ts';
import { FAR, NEAR } from '../../dev/simulators/bridge/lanes.ts';

test('the artifacts are of these contracts; `npm run contracts` writes them', () => {
  expect(readFileSync(ARTIFACTS_FILE, 'utf8').split('\n')).toContain(sourcesLine());
});

test('no contract has the same address on both chains', () => {
  const addresses = [NEAR, FAR].flatMap(({ contracts }) => Object.values(contracts));
  expect(new Set(addresses).size).toBe(10);
});
