/** docs/rules.md, written from the rules. `npm run rules:table` writes the file. */
import { RULES } from './rules.ts';
import { SECTIONS } from './rule.ts';

export const TABLE_FILE = 'docs/rules.md';

/** The page as it should be. */
export function table(): string {
  const sections = SECTIONS.map((section) => {
    const rows = RULES.filter((rule) => rule.section === section).map(
      ({ id, rule, test, broken }) =>
        `| \`${id}\` | ${cell(rule)} | \`${test.file}\`: ${cell(test.name)} | \`${broken.file}\` |`,
    );
    return [
      `## ${section}`,
      '',
      '| rule | what holds | test that fails without it | broken in |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n');
  });
  return [
    '# Rules and the tests that hold them',
    '',
    '<!-- Written by `npm run rules:table` from test/rules/; not by hand. -->',
    '',
    'For each rule of [architecture.md](architecture.md) the test that fails when the rule is taken out.',
    'How each is taken out stands as data in `test/rules/`; `npm run rules:prove` does it in a copy of',
    'the project, one rule after the other, and expects the test to fail (`-- --only <rule>` for one). CI',
    "does it for a fiftieth of them, drawn by the commit's hash (`-- --sample`), and checks that every test",
    'and every place still exists.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
