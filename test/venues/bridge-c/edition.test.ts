/** The lane is of the commercial edition. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfig } from '../../../platform/config.ts';
import { openRegistries } from '../../../service/registries.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edition-'));
  const token = `0x${'1'.repeat(40)}`;
  const venue = {
    ...{ venue_key: 'near', provider: 'evm', chain_id: 1, rpc_url: 'http://127.0.0.1:1' },
    tokens: [{ asset: 'OMNI', address: token }],
    bridge_c: { eid: 1, endpoint: `0x${'2'.repeat(40)}`, tokens: [{ asset: 'OMNI', oft: token }] },
  };
  await writeFile(join(folder, 'venues.json'), JSON.stringify({ venues: [venue] }));
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['commercial', ['bridge_c.send', 'bridge_c.observe']],
  ['free', []],
])('the %s edition has its executors, or none', async (edition, expected) => {
  const { executors, signers } = await openRegistries(
    readConfig({
      ...{ SVC_DATABASE_URL: 'postgresql://user:pass@127.0.0.1/db', SVC_AUTH_ENABLED: 'false' },
      ...{ SVC_VENUES_FILE: join(folder, 'venues.json'), SVC_EDITION: edition },
    }),
  );
  const keys = ['bridge_c.send', 'bridge_c.observe'];
  expect(keys.filter((key) => executors.get(key) !== undefined)).toEqual(expected);
  await Promise.all([signers.close(), executors.close()]);
});
