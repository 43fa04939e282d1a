/** `npm run bench`: figures of this machine at this moment; what carries over are the ratios. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { installSdk } from '../activities/sdk.ts';
import { addCosts } from './sections/costs.ts';
import { runOnStack } from './foreground.ts';
import { connectApi } from './load/api.ts';
import { readOptions, type BenchOptions } from './options.ts';
import { Collector, render } from './report.ts';
import { SECTIONS, type SectionName } from './sections/index.ts';
import type { BenchStack } from './stack.ts';

const options = readOptions(process.argv.slice(2));
await runOnStack((stack) => bench(stack, options));

async function bench(
  stack: BenchStack,
  { rounds, movements, quick, only, mostWaiting, json, profile }: BenchOptions,
): Promise<number> {
  const collect = new Collector();
  installSdk(pino({ level: 'silent' }));
  // Counted, not timed, and with a worker of its own, so before the bench's worker polls.
  await addCosts(stack.settings, collect);
  await stack.startProcesses(profile === null ? null : resolve(profile));
  const api = connectApi(stack.settings.apiPort);
  const connection = await Connection.connect({ address: stack.settings.temporalAddress });
  const context = {
    stack,
    api,
    client: new Client({ connection }),
    collect,
    rounds,
    movements,
    quick,
    mostWaiting,
    registered: new Map<string, readonly string[]>(),
  };
  for (const name of Object.keys(SECTIONS) as SectionName[]) {
    if (only.length > 0 && !only.includes(name)) continue;
    process.stderr.write(`${name}\n`);
    await SECTIONS[name](context);
  }
  await Promise.all([api.close(), connection.close()]);
  const report = collect.report();
  if (json !== null)
    writeFileSync(json, `${JSON.stringify({ rounds, movements, quick, ...report }, null, 2)}\n`);
  process.stdout.write(`${render(report)}\n`);
  return 0;
}
