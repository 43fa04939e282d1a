/** docs/rules.md, written from the rules. `npm run rules:table` writes the file. */
import { RULES } from './rules.ts';
import { SECTIONS } from './rule.ts';

export const TABLE_FILE = 'docs/rules.md';

/** The page as it should be. */
export function table(): string {
  const sections = SECTIONS.map((section) => {
    const rows = RULES.filter((rule) => rule.section === section).map(
      ({ id, rule, test }) => `| \`${id}\` | ${cell(rule)} | \`${test.file}\` |`,
    );
    return [
      `## ${section}`,
      '',
      '| rule | what holds | test that fails without it |',
      '|---|---|---|',
      ...rows,
    ].join('\n');
  });
  return [
    '# Rules and the tests that hold them',
    '',
    '<!-- Written by `npm run rules:table` from test/rules/; not by hand. -->',
    '',
    'For each rule of [architecture.md](architecture.md): the test that fails when the rule is removed.',
    '`test/rules/` holds the name of the test and the edit that removes the rule.',
    '`npm run rules:prove` makes each edit in a copy of the project and expects the test to fail',
    '(`-- --only <rule>` for one). CI proves a fiftieth, drawn by the hash of the commit (`-- --sample`),',
    'and checks that every test and every edited line still exist.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
