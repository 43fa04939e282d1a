/** What is known of chains has sources, and an entry that says less than that is refused. */
import fc from 'fast-check';
import * as definitions from 'viem/chains';
import { readFinality, type FinalityChoice } from '../../../domain/chains/finality.ts';
import { KNOWN_CHAINS, knownChain } from '../../../domain/chains/finality-table.ts';

const live = KNOWN_CHAINS.filter(({ development }) => development !== true);
const byTag = live.filter(({ read }) => read === 'finalized_tag');
const counted = live.flatMap((row) => (row.read === 'confirmations' ? [row] : []));

const entry = (chain_id: number, more: Partial<FinalityChoice> = {}): FinalityChoice => ({
  chain_id,
  confirmations: 1,
  ...more,
});
const override = { finality_override: { reason: 'our endpoints have no tags' } };

function faultOf(choice: FinalityChoice) {
  const reading = readFinality(choice);
  return reading.ok ? null : reading.faults[0];
}

const aTagged = fc.constantFrom(...byTag);
const aCount = fc.integer({ min: 1, max: 1_000_000 });
const anUnknown = fc
  .integer({ min: 2, max: Number.MAX_SAFE_INTEGER })
  .filter((chainId) => knownChain(chainId) === undefined);

describe('the table of known chains', () => {
  test.each(KNOWN_CHAINS.map((row) => [row.name, row] as const))(
    '%s has sources that say what stands in its row',
    (_, row) => {
      expect(row.sources.length).toBeGreaterThan(0);
      for (const { title, url, says } of row.sources) {
        expect(new URL(url).protocol).toBe('https:');
        expect([title.length > 5, says.length > 5]).toEqual([true, true]);
      }
      expect(row.meaning.length).toBeGreaterThan(5);
      if (row.development !== true) expect(row.typical_age_seconds).toBeGreaterThan(0);
      expect(new Set(row.sources.map(({ url }) => url)).size).toBe(row.sources.length);
    },
  );

  it('names each chain once, in the order of their ids, as others name them', () => {
    const ids = KNOWN_CHAINS.map(({ chain_id }) => chain_id);
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
    for (const { chain_id, name } of KNOWN_CHAINS) {
      const names = Object.values(definitions).flatMap((known) =>
        'id' in known && known.id === chain_id ? [known.name] : [],
      );
      expect([chain_id, names.join(', ')]).toEqual([
        chain_id,
        expect.stringContaining(name.split(' ')[0] ?? ''),
      ]);
    }
  });

  it('says it for entries that say nothing', () => {
    for (const row of KNOWN_CHAINS)
      expect(readFinality(entry(row.chain_id))).toEqual({
        ok: true,
        finality: {
          read: row.read,
          confirmations: row.read === 'confirmations' ? row.confirmations : null,
          typical_age_seconds: row.typical_age_seconds,
          override_reason: null,
        },
      });
  });
});

describe('an entry that is weaker than the table', () => {
  test('a count is refused on every chain that has the tag, and taken with a reason', () => {
    fc.assert(
      fc.property(aTagged, aCount, ({ chain_id, name }, finality_confirmations) => {
        const weaker = entry(chain_id, { finality_confirmations });
        expect(faultOf(weaker)).toEqual({
          field: 'finality_confirmations',
          message: expect.stringMatching(
            new RegExp(`^${name} \\(chain ${chain_id}\\) .*"finality_override": \\{"reason"`),
          ),
        });
        expect(readFinality({ ...weaker, ...override })).toMatchObject({
          ok: true,
          finality: {
            read: 'confirmations',
            confirmations: finality_confirmations,
            override_reason: 'our endpoints have no tags',
          },
        });
      }),
    );
  });

  test('where blocks are counted fewer are refused, and as many or more are taken', () => {
    fc.assert(
      fc.property(fc.constantFrom(...counted), aCount, (row, finality_confirmations) => {
        const fault = faultOf(entry(row.chain_id, { finality_confirmations }));
        if (finality_confirmations >= row.confirmations) expect(fault).toBeNull();
        else expect(fault?.message).toContain(`final after ${row.confirmations} blocks`);
      }),
    );
    const [row] = counted;
    const few = entry(row?.chain_id ?? 0, { finality_confirmations: 1 });
    expect(faultOf(few)?.field).toBe('finality_confirmations');
    expect(faultOf({ ...few, ...override })).toBeNull();
  });

  test('the tag is refused where the table does not rely on it', () => {
    for (const { chain_id } of counted) {
      const tagged = entry(chain_id, { finality: 'finalized_tag' });
      expect(faultOf(tagged)).toMatchObject({
        field: 'finality',
        message: expect.stringContaining('its "finalized" tag is not relied on'),
      });
      expect(faultOf({ ...tagged, ...override })).toBeNull();
    }
  });

  test('a reason is refused where nothing is weaker', () => {
    for (const { chain_id } of KNOWN_CHAINS)
      expect(faultOf(entry(chain_id, override))).toMatchObject({ field: 'finality_override' });
    expect(faultOf(entry(424_242, { finality: 'finalized_tag', ...override }))).toMatchObject({
      field: 'finality_override',
    });
  });
});

describe('a chain that is not in the table', () => {
  test('has to say how it becomes final', () => {
    fc.assert(
      fc.property(anUnknown, aCount, (chain_id, finality_confirmations) => {
        expect(faultOf(entry(chain_id))).toEqual({
          field: 'finality',
          message: expect.stringMatching(
            new RegExp(`^chain ${chain_id} .*"finality": "finalized_tag".*finality_confirmations`),
          ),
        });
        expect(readFinality(entry(chain_id, { finality: 'finalized_tag' }))).toMatchObject({
          ok: true,
          finality: { read: 'finalized_tag', confirmations: null, typical_age_seconds: null },
        });
        expect(readFinality(entry(chain_id, { finality_confirmations }))).toMatchObject({
          ok: true,
          finality: { read: 'confirmations', confirmations: finality_confirmations },
        });
      }),
    );
  });
});

test('a chain for development chooses as it likes', () => {
  const anvil = (more: Partial<FinalityChoice>) => readFinality(entry(31_337, more));
  expect(anvil({ finality_confirmations: 1 })).toMatchObject({
    ok: true,
    finality: { read: 'confirmations', confirmations: 1 },
  });
  expect(anvil({ finality: 'finalized_tag' })).toMatchObject({ ok: true });
});

test('an entry that contradicts itself is refused', () => {
  expect(faultOf(entry(1, { finality: 'finalized_tag', finality_confirmations: 9 }))).toEqual({
    field: 'finality_confirmations',
    message: expect.stringContaining('contradicts'),
  });
  expect(faultOf(entry(424_242, { finality: 'confirmations' }))).toEqual({
    field: 'finality_confirmations',
    message: expect.stringContaining('takes the number of blocks'),
  });
  expect(faultOf(entry(424_242, { confirmations: 5, finality_confirmations: 4 }))).toEqual({
    field: 'finality_confirmations',
    message: expect.stringContaining('final after 4 and confirmed after 5'),
  });
});
