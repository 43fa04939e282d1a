/** What is known of an action type stands in its spec: other code reads that, and names no type. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { ACTION_NAMES, PROTOCOL_FAMILIES } from '../../domain/actions/spec.ts';

/** What serves a type, or tries one out, and is no reader of specs. */
const SERVES =
  /^(?:domain\/actions|venues|activities\/requirements|executors\/local|dev|test|bench|examples|clients\/http\/generated)\//;

/** What makes nodes, or writes of types for people. */
const NAMES: Readonly<Record<string, string>> = {
  'api/movements/reassign.ts': 'its refusal says which nodes hold payments',
  'api/movements/reset-allowances.ts': 'makes the node that takes an allowance back',
  'api/movements/routes.ts': 'the documentation of a route',
  'api/templates/schema.ts': 'the example of a template',
  'domain/perps/deposit-address.ts': 'its refusal says which type deposits',
};

/** Also what a node's kind, a signer's backend or an outcome is called. */
const COMMON = ['manual_gate', 'noop'];

/** Also what families of proposals and of routes are called, which decides nothing of a type. */
const FAMILIES: readonly string[] = PROTOCOL_FAMILIES;

function named(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '');
  return ACTION_NAMES.filter((name) => {
    if (COMMON.includes(name))
      return new RegExp(
        `(?:action_?[tT]ype|action)\\)?\\s*(?:[=!]==?|:|=>?)\\s*['"\`]${name}['"\`]`,
      ).test(code);
    return new RegExp(`\\b${name}\\b`).test(code);
  });
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
      .filter((file) => file.endsWith('.ts') && !/^prisma\/generated\//.test(file))
      .filter((file) => !SERVES.test(file))
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
  );
}

/** Clients tell agents which families there are. */
function isFamilyAlone(file: string, name: string): boolean {
  return file.startsWith('clients/') && FAMILIES.includes(name);
}

test('no code but what serves a type or makes its nodes names an action type', () => {
  const files = sources();
  expect(files.size).toBeGreaterThan(400);
  const naming = [...files].flatMap(([file, text]) => {
    const names = named(text).filter((name) => !isFamilyAlone(file, name));
    return names.length === 0 ? [] : [`${file}: ${names.join(', ')}`];
  });
  const known = Object.keys(NAMES);
  expect(naming.filter((each) => !known.some((file) => each.startsWith(`${file}: `)))).toEqual([]);
  // What makes nodes is named here for as long as it does.
  for (const file of Object.keys(NAMES))
    expect(naming.filter((each) => each.startsWith(`${file}: `))).toHaveLength(1);
});

test('the search would find one', () => {
  const bad = [
    "if (node.action_type === 'cctp_burn') return null;",
    "switch (type) {\n  case 'perp_deposit':\n}",
    'const SECONDS = { evm_erc20_approve: 600 };',
    "AND action_type = 'evm_balance_observe'",
    "action_type === 'noop' || action_type === 'manual_gate'",
    "return actionType === 'noop';",
  ];
  for (const text of bad) expect([text, named(text).length > 0]).toEqual([text, true]);
  const good = [
    "node.node_kind === 'manual_gate'",
    "outcome: z.enum(['changed', 'noop'])",
    '/** As cctp_burn does. */\n// and `cctp_mint`\nconst x = 1;',
    'perp_deposits: { venue_key }',
  ];
  for (const text of good) expect([text, named(text)]).toEqual([text, []]);
});
