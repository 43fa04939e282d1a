/**
 * The process of one world:
 * `simulated-world <seed> <movements> <calm|storm> <database> [<faults>]`.
 */
import './machine/seams.ts';
import { writeSync } from 'node:fs';
import { Sandbox } from './runtime/sandbox.ts';
import { runWorld } from './world.ts';

const [seed = '1', movements = '100', weather = 'storm', databaseUrl = '', only] =
  process.argv.slice(2);
const sandbox = await Sandbox.open();
const report = await runWorld({
  seed: Number(seed),
  movements: Number(movements),
  databaseUrl,
  sandbox,
  isStormy: weather === 'storm',
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
for (let rest = Buffer.from(JSON.stringify(report)); rest.length > 0;)
  rest = rest.subarray(writeSync(3, rest));
await new Promise((resolve) => process.stdout.write('', resolve));
process.exit(0);
