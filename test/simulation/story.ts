/** A failed run as a person reads it: the faults that it needs, and what befell the movement. */
import type { WorldReport } from './report.ts';

export function storyOf({ seed, faults, verdicts, story }: WorldReport): string {
  const lines = [
    `With seed ${String(seed)} and ${String(faults.length)} faults:`,
    ...faults.map(
      ({ number, kind, fault, at }) =>
        `  ${(at / 1_000).toFixed(1)} s: ${kind} ${fault} (fault ${String(number)})`,
    ),
  ];
  for (const { rule, movement_id, found } of verdicts) {
    lines.push(`${rule}: ${found}`);
    for (const line of story[movement_id ?? ''] ?? []) lines.push(`    ${line}`);
  }
  return lines.join('\n');
}
