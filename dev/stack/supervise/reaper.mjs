// Ends the parts of a stack whose supervisor was killed. It waits for the end of its standard
// input, which the system closes with the supervisor, however that died. Node parts notice by
// themselves; Postgres and Temporal do not. Usage: node reaper.mjs <data folder> <supervisor's
// start mark>
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess, isAlive } from '../../bootstrap/identity.mjs';

const [dataDir, mark] = process.argv.slice(2);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

process.stdin.resume();
process.stdin.on('error', () => undefined);
process.stdin.once('close', () => void reap().finally(() => process.exit(0)));

async function reap() {
  const record = JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
  // Another stack may have started meanwhile; its parts are not ours to end.
  if (record.supervisor.start !== mark || isAlive(record.supervisor)) return;
  const stages = [...new Set(record.children.map((child) => child.stage))].sort((a, b) => a - b);
  for (const stage of stages) {
    const together = record.children.filter((child) => child.stage === stage);
    await Promise.all(
      together.map((child) => endProcess(child, { signal: child.stopSignal, timeoutMs: 5_000 })),
    );
  }
}
