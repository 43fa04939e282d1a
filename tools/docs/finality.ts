/** Builds the parts of docs/venues.md that come from the table of known chains. */
import { ASSURANCE_PROOFS, type AssuranceProof } from '../../domain/chains/assurance-table.ts';
import {
  KNOWN_CHAINS,
  type FinalitySource,
  type KnownChain,
} from '../../domain/chains/finality-table.ts';
import { COMPLETION_ASSURANCES } from '../../domain/executor.ts';
import { between } from './between.ts';

export const VENUES_FILE = 'docs/venues.md';

/** Returns `page` with both tables up to date. Throws when the page has no place for one. */
export function withFinality(page: string): string {
  return between(between(page, 'finality', chainTable()), 'assurances', assuranceTable());
}

function chainTable(): readonly string[] {
  const numbers = numbered(KNOWN_CHAINS.flatMap(({ sources }) => sources));
  return [
    '| chain | `chain_id` | read by | typical age | final is | its sources say |',
    '|---|---|---|---|---|---|',
    ...KNOWN_CHAINS.map(
      (chain) =>
        `| ${chain.name} | ${chain.chain_id} | ${readBy(chain)} | ${ageOf(chain.typical_age_seconds)} | ${chain.meaning} | ${saidOf(chain, numbers)} |`,
    ),
    '',
    'Sources:',
    '',
    ...[...numbers.values()].map(({ number, title, url }) => `${number}. [${title}](${url})`),
  ];
}

interface Numbered extends FinalitySource {
  readonly number: number;
}

/** Numbers the source pages, each once, by URL, in the order in which chains name them. */
function numbered(sources: readonly FinalitySource[]): ReadonlyMap<string, Numbered> {
  const found = new Map<string, Numbered>();
  for (const source of sources)
    if (!found.has(source.url)) found.set(source.url, { ...source, number: found.size + 1 });
  return found;
}

function readBy(chain: KnownChain): string {
  const how =
    chain.read === 'finalized_tag' ? '`finalized_tag`' : `${chain.confirmations} \`confirmations\``;
  return chain.development === true ? `${how}, or as the entry says` : how;
}

function ageOf(seconds: number | null): string {
  if (seconds === null) return '';
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function saidOf({ sources }: KnownChain, numbers: ReadonlyMap<string, Numbered>): string {
  return sources.map(({ url, says }) => `${says} (${numbers.get(url)?.number})`).join('; ');
}

const BLOCKS: Readonly<Record<AssuranceProof['block'], string>> = {
  confirmed: "with the entry's `confirmations`",
  final: 'final, as the table above says',
};

function assuranceTable(): readonly string[] {
  const rows = COMPLETION_ASSURANCES.map((rung) => {
    const { block, shown } = ASSURANCE_PROOFS[rung];
    return `| \`${rung}\` | ${BLOCKS[block]} | ${shown} |`;
  });
  return ['| required | block | what shows it |', '|---|---|---|', ...rows];
}
