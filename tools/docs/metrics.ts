/** Builds the table of metrics in docs/operations.md from the contract of the metrics. */
import { METRICS, type Metric } from '../monitoring/contract.ts';
import { between } from './between.ts';

export const OPERATIONS_FILE = 'docs/operations.md';

const SERVED_BY: Readonly<Record<Metric['servedBy'], string>> = {
  every: 'every process',
  worker: 'workers',
  api: 'API',
};

/** Returns `page` with the up-to-date table. Throws when the page has no place for it. */
export function withMetrics(page: string): string {
  const rows = METRICS.map((metric) => {
    const by = metric.source === 'database' ? 'the database' : SERVED_BY[metric.servedBy];
    const unit = metric.unit === '1' ? '' : `, ${metric.unit}`;
    return `| \`${metric.name}\` | ${metric.type}${unit} | ${labelsOf(metric)} | ${by} | ${meaningOf(metric)} |`;
  });
  return between(page, 'metrics', [
    '| metric | type, unit | labels | of | meaning |',
    '|---|---|---|---|---|',
    ...rows,
  ]);
}

function labelsOf({ labels }: Metric): string {
  return Object.entries(labels)
    .map(([label, values]) =>
      values === 'open'
        ? `\`${label}\``
        : `\`${label}\` (${values.map((value) => `\`${value}\``).join(', ')})`,
    )
    .join('; ');
}

function meaningOf({ meaning, condition }: Metric): string {
  return condition === null ? meaning : `${meaning} Served ${condition}.`;
}
