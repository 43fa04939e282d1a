/**
 * Without a collector nothing of OpenTelemetry is loaded: no file that a process reads at its start
 * imports it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';

const IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;

/** Every file of ours that is loaded with `entry`, and every package that one of them imports. */
function loadedWith(entry: string): {
  readonly files: Set<string>;
  readonly packages: Set<string>;
} {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [join(ROOT, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(relative(ROOT, file))) continue;
    files.add(relative(ROOT, file));
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (from.startsWith('.')) waiting.push(join(dirname(file), from));
      else packages.add(from);
    }
  }
  return { files, packages };
}

test('what the service loads at its start has no OpenTelemetry in it', () => {
  const { files, packages } = loadedWith('main.ts');
  expect([...files]).toEqual(
    expect.arrayContaining(['platform/tracing.ts', 'activities/phases/submit.ts', 'api/app.ts']),
  );
  expect([...packages].filter((name) => name.includes('opentelemetry'))).toEqual([]);
  expect(
    [...files].filter((file) => /^(platform\/tracing\/|activities\/tracing)/.test(file)),
  ).toEqual([]);
});

test('the files that trace do have it', () => {
  const { packages } = loadedWith('platform/tracing/sdk.ts');
  expect([...packages]).toEqual(
    expect.arrayContaining(['@opentelemetry/api', '@opentelemetry/sdk-trace-node']),
  );
});
