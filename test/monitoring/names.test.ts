/**
 * Names of metrics: the code makes those of the contract, and dashboards, alert rules and pages use
 * no others, with no other labels.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFUSAL_REASONS } from '../../api/auth/refusal.ts';
import { ROOT } from '../../dev/stack/ports.ts';
import { STATUS_NAMES } from '../../platform/temporal-metrics.ts';
import { GRPC_FAILURES, METRICS, type LabelValues } from '../../tools/monitoring/contract.ts';
import {
  PROMETHEUS_METRICS,
  RUNTIME_METRICS,
  SCRAPE_LABELS,
  SDK_METRICS,
  SERVER_METRICS,
} from '../../tools/monitoring/known-names.ts';
import { expressionsIn, namesIn } from './promql.ts';

/** Folders whose code may make a metric. */
const CODE = 'api activities platform service store venues executors signers'.split(' ');

/** A metric that stands at the top of a file: its type, its name, and what else is said of it. */
const CONSTRUCTED = /new (Counter|Gauge|Histogram)\(\{\s*name: '(\w+)',([^]*?)\n\}\)/g;
/** A gauge that is made at each scrape: its name and its labels. */
const SHOWN = /\bgauge\(\s*'(\w+)',\s*(?:'[^']*'|`[^`]*`),?\s*(\[[^\]]*\]|[a-z]\w*)?/g;

/** A loop of the service, whose turns are counted. */
const LOOP = /\b(?:startLoop\(\{\s*name: |countTurns\()'([^']+)'/g;

/** Names of the API and of SQL that look like metrics. */
const NO_METRICS = new Set([
  'svc_effective_withdrawable',
  'svc_effective_reason',
  'svc_pending_outflow',
  'svc_now',
  'svc_new_id',
]);

function filesOf(...paths: readonly string[]): readonly string[] {
  const listed = ['ls-files', '-z', '-co', '--exclude-standard', '--', ...paths];
  return execFileSync('git', listed, { cwd: ROOT })
    .toString()
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
}
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the code', () => {
  const sources = filesOf(...CODE)
    .filter((file) => file.endsWith('.ts'))
    .map(read)
    .filter((source) => source.includes("from 'prom-client'"));

  /** The labels of a list, or of the constant that holds it. */
  function listed(list: string | undefined, source: string): readonly string[] {
    if (list === undefined) return [];
    const values = list.startsWith('[')
      ? list
      : new RegExp(`const ${list} = (\\[[^\\]]*\\])`).exec(source)?.[1];
    return [...(values ?? '').matchAll(/'(\w+)'/g)].map(([, label = '']) => label);
  }

  const constructed = sources.flatMap((source) =>
    [...source.matchAll(CONSTRUCTED)].map(([, type = '', name = '', rest = '']) => ({
      name,
      type: type.toLowerCase(),
      labels: listed(/labelNames: (\[[^\]]*\]|\w+)/.exec(rest)?.[1], source),
    })),
  );
  const shown = sources.flatMap((source) =>
    [...source.matchAll(SHOWN)].map(([, name = '', labels]) => ({
      name,
      type: 'gauge',
      labels: listed(labels, source),
    })),
  );

  test('makes the metrics of the contract, with their types and labels', () => {
    const sorted = (all: readonly { name: string; type: string; labels: readonly string[] }[]) =>
      all.map(({ name, type, labels }) => `${type} ${name} ${[...labels].sort().join(' ')}`).sort();
    expect(sorted([...constructed, ...shown])).toEqual(
      sorted(METRICS.map((metric) => ({ ...metric, labels: Object.keys(metric.labels) }))),
    );
  });

  test('makes no metric in a way that is not looked at here', () => {
    const made = sources.flatMap(
      (source) => source.match(/new (?:Counter|Gauge|Histogram)\(/g) ?? [],
    );
    // One more makes every gauge of the figures that are read at a scrape.
    expect(made).toHaveLength(constructed.length + 1);
  });

  test('runs the loops that the contract lists, each under a name of its own', () => {
    const named = filesOf(...CODE)
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...read(file).matchAll(LOOP)])
      .map(([, name = '']) => name);
    for (const metric of [
      'svc_loop_failures_total',
      'svc_loop_failing_seconds',
      'svc_loop_turn_seconds',
    ]) {
      const listed = METRICS.find(({ name }) => name === metric)?.labels['loop'];
      expect(named.sort()).toEqual([...(listed ?? [])].sort());
    }
  });

  test('has the reasons and statuses that the contract lists', () => {
    const reasons = METRICS.find(({ name }) => name === 'svc_http_unauthenticated_total');
    expect(reasons?.labels['reason']).toEqual(REFUSAL_REASONS);
    expect(STATUS_NAMES).toEqual(['OK', ...GRPC_FAILURES]);
  });
});

test('a name says type and unit as Prometheus has them', () => {
  for (const { name, type, unit } of METRICS) {
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    expect([name, /_seconds(?:_total)?$/.test(name)]).toEqual([name, unit === 'seconds']);
    expect([name, /_bytes(?:_total)?$/.test(name)]).toEqual([name, unit === 'bytes']);
  }
});

type Labels = Readonly<Record<string, LabelValues>>;

/** The series of each metric, with their labels. */
const SERIES: ReadonlyMap<string, Labels> = new Map(
  [
    ...METRICS,
    ...[SDK_METRICS, RUNTIME_METRICS, SERVER_METRICS, PROMETHEUS_METRICS].flatMap((known) =>
      Object.entries(known).map(([name, { type, labels }]) => ({
        name,
        type,
        labels: Object.fromEntries(labels.map((label) => [label, 'open' as const])),
      })),
    ),
  ].flatMap(({ name, type, labels }): readonly (readonly [string, Labels])[] =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, { ...labels, le: 'open' }],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  ),
);

/** What is wrong with the names of an expression. */
function faultsOf(expression: string, series = SERIES): readonly string[] {
  const { metrics, labels } = namesIn(expression);
  const allLabels = new Set(SCRAPE_LABELS);
  const faults = metrics.flatMap(({ name, matchers }) => {
    const known = series.get(name);
    if (known === undefined) return [`there is no metric ${name}`];
    for (const label of Object.keys(known)) allLabels.add(label);
    return matchers.flatMap(({ label, values }) => {
      if (SCRAPE_LABELS.includes(label)) return [];
      const allowed = known[label];
      if (allowed === undefined) return [`${name} has no label ${label}`];
      return values
        .filter((value) => allowed !== 'open' && !allowed.includes(value))
        .map((value) => `${label} of ${name} is never ${value}`);
    });
  });
  const unknown = labels.filter((label) => !allLabels.has(label));
  return [...faults, ...unknown.map((label) => `no metric beside it has the label ${label}`)];
}

test('alert rules and their tests name what is served', () => {
  const found = filesOf('deploy/monitoring')
    .filter((file) => /\.ya?ml$/.test(file))
    .flatMap((file) => expressionsIn(read(file)).map((expression) => ({ file, expression })));
  expect(found.length).toBeGreaterThan(20);
  expect(
    found.flatMap(({ file, expression }) =>
      faultsOf(expression).map((fault) => `${file}: ${fault}`),
    ),
  ).toEqual([]);
});

test('dashboards name what is served', () => {
  const found = filesOf('deploy/monitoring/dashboards')
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const expressions: string[] = [];
      JSON.parse(read(file), (key, value: unknown) => {
        if (key === 'expr' && typeof value === 'string') expressions.push(value);
        return value;
      });
      return expressions.map((expression) => ({ file, expression }));
    });
  expect(found.length).toBeGreaterThan(20);
  expect(
    found.flatMap(({ file, expression }) =>
      faultsOf(expression).map((fault) => `${file}: ${fault}`),
    ),
  ).toEqual([]);
});

test('pages name metrics of the contract', () => {
  // A page may name a histogram as a whole.
  const known = new Map<string, Labels>([
    ...SERIES,
    ...METRICS.map(({ name, labels }) => [name, labels] as const),
  ]);
  const found = filesOf('*.md')
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) =>
      [...read(file).matchAll(/\bsvc_\w+(?:\{[^}]*\})?/g)].map(([text]) => ({ file, text })),
    )
    .filter(({ text }) => !NO_METRICS.has(text));
  expect(found.length).toBeGreaterThan(60);
  expect(
    found.flatMap(({ file, text }) => faultsOf(text, known).map((fault) => `${file}: ${fault}`)),
  ).toEqual([]);
});

test.each([
  ['max by (state) (svc_movements{state="COMPLETED"})', []],
  ['up{job=~"fund.*"} == 0 or absent(svc_metrics_up offset 30m)', []],
  ['rate(svc_http_requests_total[5m]) > 1e3', []],
  ['histogram_quantile(0.9, sum by (le) (rate(svc_approval_wait_seconds_bucket[5m])))', []],
  ['svc_approval_wait_seconds', ['there is no metric svc_approval_wait_seconds']],
  ['svc_movement == 1', ['there is no metric svc_movement']],
  ['svc_movements{venue="x"}', ['svc_movements has no label venue']],
  ['svc_movements{state=~"FAILED|LOST"}', ['state of svc_movements is never LOST']],
  ['sum by (chain) (svc_lane_stuck)', ['no metric beside it has the label chain']],
])('of %j it finds what is wrong', (expression, faults) => {
  expect(faultsOf(expression)).toEqual(faults);
});

test('finds every expression of a file of rules', () => {
  const yaml = [
    'groups:',
    '  - rules:',
    '      # expr: a comment',
    '      - alert: A',
    '        expr: |',
    '          max(a) > 0',
    '          or b',
    '        for: 1m',
    '      - alert: B',
    "        expr: 'c > 1'",
    '      - series: d{x="1"}',
  ].join('\n');
  expect(expressionsIn(yaml).map((each) => each.trim())).toEqual([
    'max(a) > 0\n          or b',
    'c > 1',
    'd{x="1"}',
  ]);
});
