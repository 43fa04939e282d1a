/** A venue is known in its own folders: other code folds over lists, and names none. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../dev/stack/ports.ts';

/** The folders that are a venue's own, and those that may name anything. */
const OWN = new RegExp(
  `^(?:${[
    'venues/',
    'domain/actions/',
    'domain/perps/',
    'activities/requirements/',
    'store/perp-',
    'clients/fundctl/commands/perps\\.ts$',
    'console/pages/perps/',
    ...['prisma/', 'dev/', 'test/', 'bench/', 'examples/', 'clients/http/generated/'],
  ].join('|')})`,
);

/** What names a venue outside of them, and why it has to. */
const NAMES: Readonly<Record<string, string>> = {
  // Names on the wire, in closed tables that all features share.
  'activities/phases/allowlist.ts': 'a code of a refusal',
  'domain/approval/power.ts': 'a kind of change that rules name',
  'domain/audit.ts': 'entities of the audit trail',
  'domain/commands/plan-cause.ts': 'a code of a refusal',
  'domain/errors.ts': 'the table of errors',
  'domain/events.ts': 'actions of the audit trail',
  'domain/send/stops.ts': 'the table of stops',
  'domain/signer-lifecycle.ts': 'gates and reasons',
  'api/bridges/refresh.ts': 'an entity of the audit trail',
  'api/bridges/routes.ts': 'paths of the bridge registry',
  'clients/http/groups.ts': 'the groups of the client',
  // Lists in which each feature of a client has its line.
  'clients/fundctl/tree.ts': 'its commands',
  'console/routes.ts': 'its page',
  // Examples and words for people.
  'api/agents/schema.ts': 'what a field may name',
  'api/capital-transfers/schema.ts': 'an example',
  'api/movements/act.ts': 'what a person has to say of a node',
  'api/movements/review-schema.ts': 'what a field means',
  'api/route-catalog/schema.ts': 'an example',
  'api/signers/routes.ts': 'the gates in their order',
  'clients/command-line/examples.ts': 'an example',
  'clients/fundagent/commands/proposals.ts': 'examples of families',
  'clients/fundctl/commands/executors.ts': 'help',
  'clients/fundctl/commands/transfers.ts': 'an example',
  'clients/mcp/tools/proposals.ts': 'examples of families',
  'domain/chains/finality-table.ts': 'a source',
  'platform/config/names.ts': 'a setting of the embedded stack',
  'tools/monitoring/contract.ts': 'a value of a label, and figures of agents',
  // Figures of an operator, one page and one statement for all of the service.
  'api/operations/metrics.ts': 'figures of agents',
  'store/metrics.ts': 'figures of agents',
  'tools/monitoring/money.ts': 'panels of agents',
};

/** In code, in any spelling: `perp`, `PerpVenue`, `bridge_c`, `burnMint`, `cctp`, `ccxt`. */
const VENUE =
  /(?<![a-z])(?:perps?(?![a-z])|bridge[-_ ]?c(?![a-z])|burn[-_ ]?(?:and[-_ ]?)?mint|cctp|ccxt|paper(?![a-z]))/gi;

/** The text without comments. */
function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '');
}

/** Camel case in parts, so that a name within a name is seen. */
function named(text: string): readonly string[] {
  const parted = codeOf(text).replace(/([a-z])([A-Z])/g, '$1 $2');
  return [...new Set([...parted.matchAll(VENUE)].map(([name]) => name.toLowerCase()))];
}

function sources(): ReadonlyMap<string, string> {
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((each) => each.isDirectory() && !/^(?:\.|node_modules|dist|coverage)/.test(each.name))
    .flatMap(({ name }) =>
      readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${name}/${file}`,
      ),
    );
  return new Map(
    ['main.ts', ...folders]
      .filter((file) => /\.tsx?$/.test(file) && !OWN.test(file))
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
  );
}

test('no code outside the folders of a venue names it', () => {
  const files = sources();
  expect(files.size).toBeGreaterThan(400);
  const naming = [...files].flatMap(([file, text]) => (named(text).length === 0 ? [] : [file]));
  expect(naming.sort()).toEqual(Object.keys(NAMES).sort());
});

test('the search finds a name in any spelling', () => {
  const bad = [
    "if (lane === 'bridge_c') return null;",
    'const { perp } = deps;',
    'createPerpExecutors(lane)',
    'burns = legOn(BURN_AND_MINT)',
    "import { burnMintActs } from '../venues/burn-mint/lane.ts';",
    "bindings.filter(({ provider }) => provider === 'ccxt')",
    'readonly cctpPart: unknown;',
  ];
  for (const text of bad) expect([text, named(text).length > 0]).toEqual([text, true]);
  const good = [
    '/** As the perps venue does. */\n// bridge_c\nconst x = 1;',
    'createBridgeChain(bridgeChains, property, superposition)',
    'newspapers.map(minted)',
  ];
  for (const text of good) expect([text, named(text)]).toEqual([text, []]);
});
