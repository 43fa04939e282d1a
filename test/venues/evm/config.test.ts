/** A venues file that says less of a chain's finality than is known of it stops the start. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KNOWN_CHAINS } from '../../../domain/chains/finality-table.ts';
import { readConfig } from '../../../platform/config.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { openRegistries } from '../../../service/registries.ts';
import { warnOfUnwitnessedDecimals } from '../../../service/unwitnessed-decimals.ts';
import { warnOfWeakFinality } from '../../../service/weak-finality.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'finality-'));
});
afterAll(() => rm(folder, { recursive: true }));

const chain = (chain_id: number, more: object = {}) => ({
  venue_key: `chain-${chain_id}`,
  provider: 'evm',
  chain_id,
  rpc_url: 'http://127.0.0.1:8545',
  ...more,
});

const warned: object[] = [];
beforeEach(() => void warned.splice(0));

/** Starts with these entries as far as the registries; how each chain becomes final. */
async function started(venues: readonly object[]) {
  const file = join(folder, 'venues.json');
  await writeFile(file, JSON.stringify({ venues }));
  const opened = await openRegistries(
    readConfig({
      SVC_DATABASE_URL: 'postgresql://user:pass@127.0.0.1/db',
      SVC_AUTH_ENABLED: 'false',
      SVC_VENUES_FILE: file,
    }),
    createLocalRequestDesk(),
  );
  const log = { warn: (about: object) => void warned.push(about) };
  warnOfWeakFinality(opened.venues.chainAssets, log);
  warnOfUnwitnessedDecimals(opened.venues.evmVenues, log);
  await Promise.all([opened.signers.close(), opened.executors.close()]);
  return new Map(opened.venues.chainAssets.map(({ chain_id, finality }) => [chain_id, finality]));
}

/** Why it does not start, a line each (service/start-faults.ts). */
async function refusal(venues: readonly object[]): Promise<readonly string[]> {
  const error = await started(venues).then(
    () => new Error('it started'),
    (reason: unknown) => reason as Error,
  );
  return error.message.split('\n').slice(1);
}

describe('a start', () => {
  it('takes every known chain without a word, as the table says', async () => {
    const found = await started(KNOWN_CHAINS.map(({ chain_id }) => chain(chain_id)));
    expect([...found].map(([id, { read }]) => [id, read])).toEqual(
      KNOWN_CHAINS.map(({ chain_id, read }) => [chain_id, read]),
    );
    expect(found.get(146)).toMatchObject({ read: 'confirmations', confirmations: 10 });
  });

  it('is refused for each weaker entry, with its place and what to write', async () => {
    const faults = await refusal([
      chain(1, { finality_confirmations: 64 }),
      chain(8_453),
      chain(146, { finality_confirmations: 3 }),
      chain(424_242),
    ]);
    expect(faults).toEqual([
      expect.stringMatching(
        /^ {2}- SVC_VENUES_FILE: venues\[0\]\.finality_confirmations: Ethereum \(chain 1\) .* leave it out, or say in "finality_override": \{"reason": "…"\} why/,
      ),
      expect.stringMatching(
        /^ {2}- SVC_VENUES_FILE: venues\[2\]\.finality_confirmations: Sonic .* after 10 blocks, .*finality_override/,
      ),
      expect.stringMatching(
        /^ {2}- SVC_VENUES_FILE: venues\[3\]\.finality: chain 424242 .*"finality": "finalized_tag".*"finality_confirmations": <blocks>$/,
      ),
    ]);
  });

  it('takes a weaker entry with a reason, and an unknown chain that says it itself', async () => {
    const reason = 'its endpoints have no tags';
    const found = await started([
      chain(1, { finality_confirmations: 64, finality_override: { reason } }),
      chain(424_242, { finality: 'finalized_tag' }),
      chain(424_243, { finality_confirmations: 30 }),
    ]);
    expect(found.get(1)).toEqual({
      read: 'confirmations',
      confirmations: 64,
      typical_age_seconds: 900,
      override_reason: reason,
    });
    expect(warned).toEqual([{ venue_key: 'chain-1', chain_id: 1, finality: found.get(1) }]);
    expect(found.get(424_242)).toMatchObject({ read: 'finalized_tag', override_reason: null });
    expect(found.get(424_243)).toMatchObject({ read: 'confirmations', confirmations: 30 });
  });

  it('warns of tokens whose decimals one endpoint alone decides', async () => {
    const [listed, open] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`);
    const tokens = [
      { asset: 'USDC', address: listed, decimals: 6 },
      { asset: 'WBTC', address: open },
    ];
    const finality = { finality: 'finalized_tag' };
    await started([
      chain(1, { tokens }),
      chain(10, { tokens, more_rpc_urls: ['http://127.0.0.1:8546'] }),
      chain(8_453, { tokens, more_rpc_urls: ['http://127.0.0.1:8545'] }),
      chain(146, { tokens: [tokens[0]] }),
      chain(424_242, { ...finality, tokens }),
    ]);
    expect(warned).toEqual([
      { venue_key: 'chain-1', chain_id: 1, assets: ['WBTC'] },
      { venue_key: 'chain-8453', chain_id: 8_453, assets: ['WBTC'] },
    ]);
  });

  it('is refused for an override that is no reason, or a way that there is not', async () => {
    const unsaid = { finality_confirmations: 64, finality_override: { reason: ' ' } };
    expect(await refusal([chain(1, unsaid), chain(10, { finality: 'latest' })])).toEqual([
      expect.stringMatching(/^ {2}- SVC_VENUES_FILE: venues\[0\]\.finality_override\.reason: /),
      expect.stringMatching(/^ {2}- SVC_VENUES_FILE: venues\[1\]\.finality: /),
    ]);
  });
});
