/**
 * What docs/executors.md shows is what goes over the wire: every example of HTTP is sent to the
 * example's own process, and the table of the kit is held against the types that its package
 * brings. What the service itself sends is held in test/slow/executor-guide.test.ts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ts from 'typescript';
import { built } from '../../dev/bootstrap/programs.mjs';
import { KIT } from '../../dev/kit/package.ts';
import { emitDeclarations } from '../../dev/packages/declarations.ts';
import { EXECUTOR_PHASES } from '../../domain/executor.ts';
import { Rejected, Unavailable } from '../../executor-kit/define.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import {
  executionContextSchema,
  parseResult,
  submitBodySchema,
  isExecutorPhase,
} from '../../executors/protocol.ts';
import { bindings, bound, byForm, examplesOf, sectionOf } from './support/guide.ts';
import { memoryExecutor } from './support/memory-executor.ts';
import { contextOf } from '../executors/fake-server.ts';

let folder: string;
let bank: ChildProcess;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'executor-guide-'));
  bank = spawn(
    process.execPath,
    [
      built('executor-http'),
      '--port',
      '0',
      '--data',
      join(folder, 'bank'),
      '--clearing-ms',
      '3000',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(bank.stdout ?? bank, 'data')) as [Buffer];
  url = /http:\S+/.exec(line.toString())?.[0] ?? '';
});
afterAll(async () => {
  bank.kill('SIGTERM');
  await once(bank, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

let served: ServedExecutor | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

interface Answer {
  readonly status: number;
  readonly answer: unknown;
}

async function send(what: string, request: unknown): Promise<Answer> {
  const [method = '', path = ''] = what.split(' ');
  const answer = await fetch(`${url}${path}`, {
    method,
    ...(request === undefined
      ? {}
      : { body: JSON.stringify(request), headers: { 'content-type': 'application/json' } }),
  });
  const text = await answer.text();
  return { status: answer.status, answer: text === '' ? null : (JSON.parse(text) as unknown) };
}

/**
 * A payment clears after a while: observe is called until it says what the guide says it ends with.
 */
async function sendUntil(what: string, request: unknown, shown: Answer): Promise<Answer> {
  const stateOf = ({ answer }: Answer): unknown =>
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'next_state') : null;
  for (const until = Date.now() + 20_000; ; await sleep(100)) {
    const real = await send(what, request);
    const early = stateOf(real) === 'OBSERVING' && stateOf(shown) === 'COMPLETED';
    if (!early || Date.now() > until) return real;
  }
}

test('every example over HTTP is what the bank of the examples answers', async () => {
  const examples = examplesOf('Over HTTP');
  const known = new Map<string, string>();
  for (const { what, status, ...shown } of examples) {
    const request = bound(shown.request ?? null, known) ?? undefined;
    const real = await sendUntil(what, request, { status, answer: shown.answer });
    const expected = bound(shown.answer, known);
    expect([what, real.status, byForm([request ?? null, real.answer])]).toEqual([
      what,
      status,
      byForm([request ?? null, expected]),
    ]);
    for (const [from, to] of bindings(shown.answer, real.answer)) known.set(from, to);
  }
  const phases = EXECUTOR_PHASES.map((phase) => `POST /${phase}`);
  expect(examples.map(({ what }) => what)).toEqual(
    expect.arrayContaining([...phases, 'GET /health']),
  );
  expect(examples.filter(({ what }) => what.startsWith('GET /effects/'))).toHaveLength(2);
});

test('every example fits the protocol whole: nothing in it is unknown or would be dropped', () => {
  const examples = [
    ...examplesOf('Over HTTP').map((each) => ({ ...each, phase: each.what.replace('POST /', '') })),
    ...examplesOf('On a task queue').map((each) => ({ ...each, phase: each.what })),
  ].filter(({ phase }) => isExecutorPhase(phase));
  expect(examples.length).toBeGreaterThanOrEqual(14);
  for (const { phase, request, status, answer } of examples) {
    const schema = phase === 'submit' ? submitBodySchema : executionContextSchema;
    const { send_not_after: _, ...body } = request as Record<string, unknown>;
    expect(schema.parse(body)).toEqual(body);
    if (status !== 200 || !isExecutorPhase(phase)) continue;
    expect(parseResult(phase, answer)).toEqual(answer);
  }
});

test('the table of refusals is what the kit answers, each provoked', async () => {
  const tokens = join(folder, 'token');
  writeFileSync(tokens, 'secret');
  const thrown = [new Rejected('KEY_REUSED', 'used', 409), new Unavailable('later'), new Error('')];
  served = await serveExecutor(
    memoryExecutor(() => ({
      observe: async () => {
        throw thrown.shift() ?? new Error('nothing left');
      },
    })),
    { port: 0, authTokenFile: tokens, maxBodyBytes: 2_000, log: () => undefined },
  );
  const base = served.url;
  const ask = async (path: string, init: RequestInit = {}, token = 'secret') => {
    const { headers, ...more } = init;
    const answer = await fetch(`${base}${path}`, {
      method: 'POST',
      ...more,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    });
    const body = (await answer.json()) as { readonly error_code: string };
    return `${answer.status} ${body.error_code}`;
  };
  const context = JSON.stringify(contextOf());
  const real = [
    await ask('/observe', { body: '{' }),
    await ask('/observe', { body: context }, 'wrong'),
    await ask('/pay', { body: context }),
    await ask('/observe', { method: 'GET' }),
    await ask('/observe', { body: context }),
    await ask('/observe', { body: JSON.stringify('x'.repeat(3_000)) }),
    await ask('/observe', { body: context, headers: { 'content-type': 'text/plain' } }),
    await ask('/observe', { body: '{}' }),
  ];
  const unavailable = await ask('/observe', { body: context });
  const passed = { 'x-not-after': new Date(Date.now() - 1).toISOString() };
  const late = await ask('/observe', { body: context, headers: passed });
  real.push(await ask('/observe', { body: context }), unavailable, late);
  const rows = [...sectionOf('Over HTTP').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)];
  expect(rows.map(([, status, code]) => `${status} ${code}`)).toEqual(real);
});

interface Signature {
  readonly from: string;
  readonly name: string;
  readonly parameters: string;
  readonly result: string;
}

/** As the declarations of the package say: what can be called or made, entry by entry. */
function signatures(): readonly Signature[] {
  const types = join(folder, 'types');
  const sources = Object.values(KIT.entries).map(({ source }) => source);
  for (const [file, text] of emitDeclarations(sources)) {
    mkdirSync(dirname(join(types, file)), { recursive: true });
    writeFileSync(join(types, file), text);
  }
  const entries = Object.entries(KIT.entries).map(
    ([from, { source }]) => [from, join(types, source.replace(/\.ts$/, '.d.ts'))] as const,
  );
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    { module: ts.ModuleKind.NodeNext, noLib: true, types: [] },
  );
  const checker = program.getTypeChecker();
  return entries.flatMap(([from, file]) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} declares nothing`);
    return checker.getExportsOfModule(module).flatMap((symbol) => {
      const original =
        (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
      return (original.declarations ?? []).flatMap((declaration) =>
        signatureOf(from, symbol.name, declaration),
      );
    });
  });
}

function signatureOf(from: string, name: string, node: ts.Declaration): readonly Signature[] {
  if (ts.isFunctionDeclaration(node)) {
    const { typeParameters = [], parameters, type } = node;
    const generic = typeParameters.map((each) => each.getText()).join(', ');
    return [
      {
        from,
        name: generic === '' ? name : `${name}<${generic}>`,
        parameters: parameters.map((each) => oneLine(each.getText())).join(', '),
        result: oneLine(type?.getText() ?? ''),
      },
    ];
  }
  if (!ts.isClassDeclaration(node)) return [];
  const made = node.members.find(ts.isConstructorDeclaration);
  const parameters = made?.parameters.map((each) => oneLine(each.getText())).join(', ') ?? '';
  return [{ from, name: `new ${name}`, parameters, result: name }];
}

/** As prettier would write a type on one line. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/; \}/g, ' }');
}

test('the table of the kit has every function of its package, as its types declare it', () => {
  const cell = '`((?:[^`|]|\\\\\\|)*)`';
  const row = new RegExp(`^\\| ${cell} \\| ${cell} \\| (?:${cell})? ?\\| ${cell} \\|`, 'gm');
  const shown = [...sectionOf('The kit').matchAll(row)].map(([, ...cells]) => {
    const [from = '', name = '', parameters = '', result = ''] = cells.map((each) =>
      (each ?? '').replaceAll('\\|', '|'),
    );
    return { from, name, parameters, result };
  });
  const byName = (left: Signature, right: Signature): number =>
    `${left.from} ${left.name}` < `${right.from} ${right.name}` ? -1 : 1;
  expect([...shown].sort(byName)).toEqual([...signatures()].sort(byName));
}, 180_000);
