/**
 * The process of one world:
 * `simulated-world <seed> <movements> <calm|storm> <database> <exchange|none> [<faults>]`.
 */
import './machine/seams.ts';
import { writeSync } from 'node:fs';
import { NO_EXCHANGE } from './report.ts';
import { Sandbox } from './runtime/sandbox.ts';
import { runWorld } from './world.ts';

const [seed = '1', movements = '100', weather = 'storm', databaseUrl = '', ...rest] =
  process.argv.slice(2);
const [exchange = NO_EXCHANGE, only] = rest;
const sandbox = await Sandbox.open();
const report = await runWorld({
  seed: Number(seed),
  movements: Number(movements),
  databaseUrl,
  sandbox,
  isStormy: weather === 'storm',
  ...(exchange === NO_EXCHANGE ? {} : { exchange }),
  ...(only === undefined
    ? {}
    : {
        onlyFaults: new Set(
          only
            .split(',')
            .filter((each) => each !== '')
            .map(Number),
        ),
      }),
  tell: (line) => process.stdout.write(`${line}\n`),
});
// The parent reads the report from a pipe of its own; standard output is the log.
for (let left = Buffer.from(JSON.stringify(report)); left.length > 0;)
  left = left.subarray(writeSync(3, left));
await new Promise((resolve) => process.stdout.write('', resolve));
process.exit(0);
