/**
 * `npm run monitoring:dashboards`: writes the dashboards. With `--check` nothing is written; the
 * command fails when a file is stale, missing, or left over from a dashboard that is gone.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { DASHBOARDS_FOLDER, dashboardFiles } from '../../tools/monitoring/dashboards.ts';

const faults: string[] = [];
const check = process.argv.includes('--check');
const files = dashboardFiles();
if (!check) mkdirSync(DASHBOARDS_FOLDER, { recursive: true });
for (const { file, text } of files) {
  if (!check) writeFileSync(file, text);
  else if (present(file) !== text) faults.push(`${file} is stale: npm run monitoring:dashboards`);
}
for (const file of leftOver()) {
  if (!check) rmSync(file);
  else faults.push(`${file} has no source: npm run monitoring:dashboards removes it`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

function present(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function leftOver(): readonly string[] {
  if (!existsSync(DASHBOARDS_FOLDER)) return [];
  return readdirSync(DASHBOARDS_FOLDER)
    .map((name) => `${DASHBOARDS_FOLDER}/${name}`)
    .filter((file) => !files.some((each) => each.file === file));
}
