/** What `fundctl` is made of, without a service: words, help, completions, what is drawn. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommanderError } from 'commander';
import fc from 'fast-check';
import { argumentOf, isGroup } from '../../clients/command-line/command.ts';
import { completionOf, SHELLS } from '../../clients/command-line/completion.ts';
import { EXIT_MEANINGS } from '../../clients/command-line/exit.ts';
import { flagOf, pairs } from '../../clients/command-line/options.ts';
import { painter, wantsColour } from '../../clients/command-line/paint.ts';
import { printable, printableJson } from '../../clients/command-line/printable.ts';
import { programOf } from '../../clients/command-line/program.ts';
import { readSettings } from '../../clients/command-line/settings.ts';
import { schemaOf } from '../../clients/command-line/schemas.ts';
import { View } from '../../clients/command-line/view.ts';
import { age, jsonPairs, moneyOf, parsedJson, when } from '../../clients/command-line/words.ts';
import { requireSmall } from '../../clients/fundctl/commands/smoke.ts';
import { FUNDCTL } from '../../clients/fundctl/program.ts';
import { TREE } from '../../clients/fundctl/tree.ts';
import { built } from '../../dev/bootstrap/programs.mjs';
import { findOnPath } from '../../dev/bootstrap/temporal-build.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import { LEAVES, runFundctl, type Ran } from '../support/fundctl.ts';

const NOWHERE = { SVC_CLIENT_CONFIG: '/nonexistent/config.json' };
const help = async (...words: readonly string[]): Promise<string> => {
  const { status, out, err } = await runFundctl(NOWHERE, [...words, '--help']);
  expect([words, status, err]).toEqual([words, 0, '']);
  return out;
};

describe('help', () => {
  test('names every group, command, argument, option and exit status', async () => {
    const top = await help();
    for (const [status, means] of EXIT_MEANINGS)
      expect(top).toContain(`${String(status)} `.padEnd(5) + means);
    for (const entry of TREE) {
      expect(top).toContain(entry.name);
      if (!isGroup(entry)) continue;
      const group = await help(entry.name);
      for (const { name } of entry.commands)
        expect(group).toMatch(new RegExp(`^ +${name}\\b`, 'm'));
    }
    for (const { path, leaf } of LEAVES) {
      const own = await help(...path.split(' '));
      for (const name of Object.keys(leaf.args)) expect(own).toContain(`<${argumentOf(name)}>`);
      for (const name of Object.keys(leaf.options))
        expect([path, own]).toEqual([path, expect.stringContaining(flagOf(name))]);
      for (const word of ['--profile', '--output', '--quiet']) expect(own).toContain(word);
    }
  });

  test('every command and option that a page or a test names is there', () => {
    const files = [
      ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.md'))
        .map((name) => join('docs', name)),
      'README.md',
      'CONTRIBUTING.md',
      'test/slow/fundctl-life.test.ts',
      'test/http/fundctl.test.ts',
    ];
    const called = files.flatMap((file) =>
      callsIn(readFileSync(join(ROOT, file), 'utf8')).map((call) => ({ file, call })),
    );
    expect(called.length).toBeGreaterThan(80);
    for (const { file, call } of called)
      expect([file, call, problemOf(call)]).toEqual([file, call, null]);
  });

  test('a word that is mistyped is answered with the one that may be meant', async () => {
    const { status, err } = await runFundctl(NOWHERE, ['movments', 'list']);
    expect([status, err]).toEqual([
      2,
      expect.stringMatching(/^fundctl: .*Did you mean movements\?.*\n$/),
    ]);
  });
});

describe('only the group that is called has its commands', () => {
  /** Runs the program in which the groups of these names have their commands. */
  const ranWith = async (groups: readonly string[], words: readonly string[]): Promise<Ran> => {
    let out = '';
    let err = '';
    const io = {
      env: NOWHERE,
      out: (text: string) => (out += text),
      err: (text: string) => (err += text),
      terminal: { in: false, out: false, err: false },
      read: () => Promise.resolve(''),
      signal: new AbortController().signal,
    };
    const program = programOf(FUNDCTL, io, groups);
    const status = await program.parseAsync([...words], { from: 'user' }).then(
      () => 0,
      (error: unknown) => (error instanceof CommanderError && error.exitCode === 0 ? 0 : 2),
    );
    return { status, out, err };
  };
  const all = TREE.map(({ name }) => name);

  test.each(
    [
      '',
      '--help',
      '--version',
      'help',
      'help movements',
      'help movements list',
      'help movments',
      'help smoke',
      'movements',
      'movements --help',
      'movements help',
      'movements help list',
      'movements list --help',
      'movements lst',
      'movements show',
      'movements list --stat FAILED',
      'movements list --state NONE',
      'movments list',
      'templates movements',
      'nothing',
      'smoke',
      'completion',
      '-- movements lst',
      '--output json movements lst',
      '--output xml movements list',
      '--output=json movements lst',
      '--profile movements list',
      '--url x movements list',
      '--url=x movements list',
    ].map((line) => [line]),
  )('and "fundctl %s" ends as with all of them', async (line) => {
    const words = line.split(' ').filter((word) => word !== '');
    const ran = await runFundctl(NOWHERE, words);
    expect(ran).toEqual(await ranWith(all, words));
    expect(ran.out + ran.err).not.toBe('');
  });

  test('the help of a group is that of its commands, by both of its names', async () => {
    for (const entry of TREE.filter(isGroup)) {
      const { status, out, err } = await runFundctl(NOWHERE, ['help', entry.name]);
      expect([status, err, out]).toEqual([0, '', await help(entry.name)]);
      for (const { name } of entry.commands) expect(out).toMatch(new RegExp(`^ +${name}\\b`, 'm'));
    }
  });

  test.each([
    ['movements list'],
    ['--quiet movements list'],
    ['--output json movements list'],
    ['movements --quiet list'],
    ['-- movements list'],
  ])('and "fundctl %s" is called', async (line) => {
    const { status, err } = await runFundctl(NOWHERE, line.split(' '));
    expect([status, err]).toEqual([2, expect.stringContaining('No key is set')]);
  });

  test('and no other', () => {
    const io = { env: {}, out: () => undefined, err: () => undefined };
    const terminal = { in: false, out: false, err: false };
    const read = () => Promise.resolve('');
    const { signal } = new AbortController();
    const program = programOf(FUNDCTL, { ...io, terminal, read, signal }, ['movements', 'list']);
    const full = program.commands.filter(({ commands }) => commands.length > 0);
    expect(full.map((command) => command.name())).toEqual(['movements']);
    expect(program.commands).toHaveLength(TREE.length);
  });
});

/** What stands behind `fundctl` in code, shell and examples, and what tests ask for. */
function callsIn(text: string): readonly string[] {
  const named = [...text.matchAll(/(?<![\w./-])fundctl (?:-- )?([a-z][^`|;#\n"]*)/g)].map(
    ([, call = '']) => call,
  );
  const run = [...text.matchAll(/json\.run(?:<[^>]*>)?\(\s*'([a-z -]+)'/g)].map(
    ([, call = '']) => call,
  );
  return [...named, ...run];
}

/** Why the words are no call; null where they are one, or no call at all. */
function problemOf(call: string): string | null {
  const words = call.trim().split(/\s+/);
  const [first = '', second = ''] = words;
  const group = TREE.find((entry) => entry.name === first);
  // A sentence about the program goes on with other words.
  if (group === undefined)
    return /^(speaks|does|has|over|and|is|takes|asks|ended)$/.test(first) ? null : `no ${first}`;
  if (isGroup(group) && !/^[a-z]/.test(second)) return null;
  const path = isGroup(group) ? `${first} ${second.replace(/[,.)]+$/, '')}` : first;
  const leaf = LEAVES.find((each) => each.path === path)?.leaf;
  if (leaf === undefined) return `no ${path}`;
  const known = [
    ...Object.keys(leaf.options).map(flagOf),
    '--output',
    '--profile',
    '--quiet',
    '--help',
  ];
  const unknown = words
    .filter((word) => /^--[a-z]/.test(word))
    .find((word) => !known.includes(word.replace(/[,.)]+$/, '')));
  return unknown === undefined ? null : `no ${unknown} of ${path}`;
}

test("every command's help has an example that can be typed, and marks what is required", async () => {
  for (const { path, leaf } of LEAVES) {
    const { status, out } = await runFundctl(NOWHERE, [...path.split(' '), '--help']);
    const [, examples = ''] = out.split('Examples:\n');
    const lines = examples.trim().split(/\n\s*/);
    expect([path, status, lines[0]]).toEqual([path, 0, expect.stringContaining(`fundctl ${path}`)]);
    for (const line of lines)
      expect([line, problemOf(line.replace(/^.*?fundctl /, ''))]).toEqual([line, null]);
    const required = Object.entries(leaf.options).filter(([, option]) => option.required === true);
    for (const [name] of required) {
      const [, about = ''] = out.split(new RegExp(`^  ${flagOf(name)} `, 'm'));
      expect([path, name, about.split(/\n  -/)[0]?.replace(/\s+/g, ' ')]).toEqual([
        path,
        name,
        expect.stringContaining('(required)'),
      ]);
    }
  }
});

test('every command says what its JSON is', async () => {
  const without = [];
  for (const { path, leaf } of LEAVES)
    if ((await schemaOf(leaf.answer)) === null) without.push(path);
  expect(without).toEqual(['completion']);
});

describe('completions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'completions-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const script = (shell: (typeof SHELLS)[number]): string => {
    const file = join(folder, `fundctl.${shell}`);
    writeFileSync(file, completionOf(shell, 'fundctl', TREE));
    return file;
  };

  test.each(SHELLS)('%s takes its script, where it is installed', (shell) => {
    const found = findOnPath(shell, process.env);
    if (found === null) return;
    const check = shell === 'fish' ? '--no-execute' : '-n';
    expect(execFileSync(found, [check, script(shell)], { encoding: 'utf8' })).toBe('');
  });

  test.each([
    ['fundctl mov', 'movements'],
    ['fundctl movements rej', 'reject'],
    ['fundctl movements list --st', '--state --strategy'],
    ['fundctl movements list --state EXP', 'EXPIRED'],
    ['fundctl --output js', 'json'],
    ['fundctl movements show 01a2 --out', '--output'],
  ])('bash completes "%s" with %s', (line, completed) => {
    const words = line.split(' ');
    const lines = [
      `. ${script('bash')}`,
      `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${String(words.length - 1)}`,
      '_fundctl; echo "${COMPREPLY[*]}"',
    ];
    expect(execFileSync('bash', ['-c', lines.join('\n')], { encoding: 'utf8' }).trim()).toBe(
      completed,
    );
  });
});

describe('what is shown', () => {
  const control = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/;
  const nasty = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u001b[2J', '\u009b31m', '\u202egnp.exe', 'a\r\nb', '\ud800', 'ordinary'),
  );

  test('text of others moves no cursor, and JSON of it says the same', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        expect(printable(text)).not.toMatch(control);
        const json = printableJson({ [text]: [text] });
        expect(json.replaceAll('\n', '')).not.toMatch(control);
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
      }),
    );
    expect(printable('a\u{e0041}b\u{e0100}')).toBe('a\\udb40\\udc41b\\udb40\\udd00');
    expect(printable('Zürich, 東京 🚀')).toBe('Zürich, 東京 🚀');
  });

  test('a table has its columns under their titles, amounts by their right end', async () => {
    const rows = [
      { name: 'a\u001b[31m', amount: '1.5', none: null },
      { name: 'longer', amount: '1000', none: null },
    ];
    const drawn = await new View(painter(false)).table(rows, {
      NAME: 'name',
      AMOUNT: { right: 'amount' },
      NONE: 'none',
    });
    expect(drawn).toBe(
      ['NAME         AMOUNT  NONE', 'a\\u001b[31m     1.5  -', 'longer         1000  -', ''].join(
        '\n',
      ),
    );
  });

  test('what is wider than the terminal is a block for each row, with every cell whole', async () => {
    const address = `0x${'ab'.repeat(20)}`;
    const rows = [
      { name: 'pay', to: address, none: null },
      { name: 'sweep', to: address, none: null },
    ];
    const columns = { NODE: 'name', DESTINATION: 'to', NONE: 'none' } as const;
    const block = (name: string) => `NODE         ${name}\nDESTINATION  ${address}\n`;
    expect(await new View(painter(false), 54).table(rows, columns)).toBe(
      `${block('pay')}\n${block('sweep')}`,
    );
    expect(await new View(painter(false), 55).table(rows, columns)).toMatch(/^NODE {3}DESTINATION/);
    // A pipe takes lines of any length.
    expect(await new View(painter(false)).table(rows, columns)).toMatch(/^NODE {3}DESTINATION/);
  });

  test('a time says its zone', () => {
    expect(when('2026-11-24T21:58:39.123Z')).toBe('2026-11-24 21:58:39Z');
  });

  test('money without a bound says so, and times are of one unit', () => {
    expect(
      moneyOf([
        { asset: 'USDC', amount: null },
        { asset: 'ETH', amount: '1' },
      ]),
    ).toBe('UNBOUNDED USDC, 1 ETH');
    const now = Date.parse('2026-11-24T12:00:00.000Z');
    expect(age('2026-11-24T11:58:30.000Z', now)).toBe('90s');
    expect(age('2026-11-25T12:00:00.000Z', now)).toBe('in 24h');
  });

  test('colour is for terminals whose people have not said no', () => {
    expect(wantsColour(true, {})).toBe(true);
    for (const [terminal, env] of [
      [false, {}],
      [true, { NO_COLOR: '1' }],
      [true, { TERM: 'dumb' }],
    ] as const)
      expect(wantsColour(terminal, env)).toBe(false);
  });
});

describe('what people type', () => {
  test('is sent as it was typed, or not at all', () => {
    expect(jsonPairs(['n=9007199254740993', 'o={"a":[1.50,"x"]}', 'p=x=y'], '--param')).toEqual({
      n: '9007199254740993',
      o: { a: [1.5, 'x'] },
      p: 'x=y',
    });
    expect(() => jsonPairs(['o={"a":[9007199254740993]}'], '--param')).toThrow(
      /^--param o: a\[0\]: is a number that cannot be held exactly/,
    );
    expect(() => jsonPairs(['o={"a":1,"a":2}'], '--param')).toThrow(/a: appears more than once/);
    expect(() => pairs(['x=1', 'y=1', 'x=2'], '--label')).toThrow(
      '--label takes each key once; "x" is there twice.',
    );
    expect(pairs(['__proto__=1'], '--label')).toEqual(JSON.parse('{"__proto__":"1"}'));
  });

  test.each(['{"amount":1e-400}', '{"amount":"1","amount":"2"}'])(
    'a file is refused by its place: %s',
    (text) => {
      expect(() => parsedJson(text, 'create.json')).toThrow(/^create\.json: amount: /);
    },
  );
});

describe('settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (env: Readonly<Record<string, string>>) =>
    readSettings({ ...NOWHERE, ...env }, { program: 'fundctl' });

  test('the file of a secret stands before its value, without the line end that editors add', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'from the file\n', { mode: 0o600 });
    const both = read({ SVC_KEY_ID: 'k', SVC_HMAC_SECRET: 'plain', SVC_HMAC_SECRET_FILE: file });
    expect([both.secret?.from, both.secret?.read()]).toEqual([
      'SVC_HMAC_SECRET_FILE',
      'from the file',
    ]);
    expect(
      read({ SVC_HMAC_SECRET_FILE: '/nonexistent/x', SVC_HMAC_SECRET: 'plain' }).secret?.read,
    ).toThrow('SVC_HMAC_SECRET_FILE cannot be read');
  });

  test('a key and its secret come from one place', () => {
    const config = join(folder, 'config.json');
    const profiles = { desk: { key_id: 'desk', secret_file: 'desk.secret' } };
    writeFileSync(config, JSON.stringify({ default_profile: 'desk', profiles }));
    const own = read({ SVC_CLIENT_CONFIG: config });
    expect([own.keyId?.value, own.secret?.file]).toEqual(['desk', join(folder, 'desk.secret')]);
    const half = read({ SVC_CLIENT_CONFIG: config, SVC_KEY_ID: 'other' });
    expect([half.keyId?.value, half.secret]).toEqual(['other', null]);
  });

  test.each([
    [{ SVC_API_URL: 'http://user:secret-word@host' }],
    [{ SVC_API_URL: 'ftp://secret-word' }],
    [{ SVC_OUTPUT: 'xml' }],
  ])('%p is refused without quoting a password', (env) => {
    expect(() => read(env)).toThrow(/SVC_\w+/);
    expect(() => read(env)).not.toThrow(/secret-word/);
  });

  test('a file of profiles that is not JSON is not quoted either', () => {
    const config = join(folder, 'broken.json');
    writeFileSync(config, '{ "secret": "secret-word"');
    expect(() => read({ SVC_CLIENT_CONFIG: config })).toThrow(/broken\.json is not JSON/);
  });
});

test('a smoke test moves at most five units of a stablecoin, whatever the plan does', () => {
  expect(() => requireSmall([{ asset: 'USDC', amount: '5' }])).not.toThrow();
  for (const [asset, amount] of [
    ['USDC', '5.000000000000000001'],
    ['USDC', '50'],
    ['USDC', null],
    ['ETH', '0.001'],
  ] as const)
    expect(() =>
      requireSmall([
        { asset: 'USDC', amount: '1' },
        { asset, amount },
      ]),
    ).toThrow('smoke test');
});

test('at its start it loads nothing but its own code and what Node has', () => {
  const outside = new Set<string>();
  const seen = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\b[^"']*["']([^"']+)["'];?$/gm,
    ))
      if (path.startsWith('.')) follow(join(dirname(file), path));
      else if (!path.startsWith('node:')) outside.add(path);
  };
  follow(built('fundctl'));
  expect([...outside]).toEqual([]);
  expect(seen.size).toBeGreaterThan(1);
  const code = [...seen].map((file) => readFileSync(file, 'utf8')).join('\n');
  expect(code).not.toMatch(/ZodError|class ZodType|\$ZodType/);
});
