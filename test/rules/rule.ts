/**
 * A rule of the architecture, the test that holds it, and a way to break it that the test must
 * notice.
 */
export const SECTIONS = [
  'Commands, wakes, versions',
  'One write path, one lock order',
  'Money is spent at most once',
  'Lanes of nonces',
  'When a block is final',
  'The graph',
  'Signers are replaced',
  "Signed for teams' executors",
  'Bridges',
  'The perps venue',
  'Agents propose',
  "The console's door",
  'Several processes',
  'The console',
  'Said twice',
] as const;
export type Section = (typeof SECTIONS)[number];

export interface Rule {
  /** Short and stable: how `npm run rules:prove -- --only <id>` names it. */
  readonly id: string;
  readonly section: Section;
  /** What holds, in one sentence. */
  readonly rule: string;
  /** The test that fails without it: a file, and the whole or a part of a test's name. */
  readonly test: { readonly file: string; readonly name: string };
  /** The rule taken out: in `file`, the one place that reads `find` becomes `replace`. */
  readonly broken: { readonly file: string; readonly find: string; readonly replace: string };
}

/**
 * What a test's name begins with: names built by test.each stand in the file with their
 * placeholders.
 */
export function plainName({ test }: Rule): string {
  return test.name.split(/[%$]/)[0] ?? '';
}

/** The jest project that a test file belongs to. */
export function projectOf(testFile: string): 'stack' | 'faults' | 'unit' {
  if (testFile.startsWith('test/http/')) return 'stack';
  return testFile.startsWith('test/faults/') ? 'faults' : 'unit';
}
