/** The dashboards are as their source says, and show and add up only what is served. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { ROOT } from '../../dev/stack/ports.ts';
import { METRICS } from '../../tools/monitoring/contract.ts';
import {
  DASHBOARDS,
  DASHBOARDS_FOLDER,
  dashboardFiles,
  panelQueries,
} from '../../tools/monitoring/dashboards.ts';
import { descriptionOf, grafanaDashboard } from '../../tools/monitoring/layout.ts';
import { namesIn } from './promql.ts';

const ALERTS_FOLDER = join(ROOT, 'deploy', 'monitoring', 'alerts');

/** A file of alerts, whose form test/monitoring/alerts.test.ts checks. */
interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly labels: { readonly severity: string };
    }[];
  }[];
}

/** Gauges of which each process serves its own part; of the others each serves the whole figure. */
const OF_ONE_PROCESS = [
  'svc_http_requests_admitted',
  'svc_http_unverified_body_bytes',
  'svc_lease_held',
];

const panels = DASHBOARDS.flatMap(({ name, sections }) =>
  sections.flatMap((section) =>
    section.panels.map((panel) => ({ ...panel, at: `${name}: ${panel.title}` })),
  ),
);
const queries = panels.flatMap(({ at, unit, queries: of }) =>
  of.map((each) => {
    const { metrics, labels } = namesIn(each.expr);
    return { ...each, at, unit, by: labels, metrics: metrics.map(({ name }) => name) };
  }),
);

/** Returns the unit that follows from a metric's name and from what the query does with it. */
function unitOf(expr: string, metric: string): string {
  const grows = expr.includes('rate(') && !expr.startsWith('histogram_quantile(');
  if (grows) return metric.endsWith('_seconds_total') ? 'share' : 'per-second';
  if (/_seconds(_bucket)?$|_latency_bucket$/.test(metric)) return 'seconds';
  if (metric.endsWith('_bytes')) return 'bytes';
  return metric.endsWith('_days_left') ? 'days' : 'count';
}

test('the files are as `npm run monitoring:dashboards` writes them', () => {
  const files = dashboardFiles();
  for (const { file, text } of files) expect(readFileSync(join(ROOT, file), 'utf8')).toBe(text);
  expect(readdirSync(join(ROOT, DASHBOARDS_FOLDER)).sort()).toEqual(
    files.map(({ file }) => file.slice(DASHBOARDS_FOLDER.length + 1)).sort(),
  );
});

test.each(DASHBOARDS.map((dashboard) => [dashboard.name, dashboard] as const))(
  '%s: ids and titles are unique, and no two panels take the same place',
  (_, dashboard) => {
    const placed = grafanaDashboard(dashboard).panels;
    expect(new Set(placed.map(({ id }) => id)).size).toBe(placed.length);
    expect(new Set(placed.map(({ title }) => title)).size).toBe(placed.length);
    const cells = placed.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_cell, index) => ({
        x: x + (index % w),
        y: y + Math.floor(index / w),
      })),
    );
    expect(Math.max(...cells.map(({ x }) => x))).toBeLessThan(24);
    expect(new Set(cells.map(({ x, y }) => `${String(x)},${String(y)}`)).size).toBe(cells.length);
  },
);

test('one import works with any Prometheus: the data source is the only variable', () => {
  for (const { text } of dashboardFiles()) {
    expect(new Set(text.match(/\$[^"]*/g) ?? [])).toEqual(new Set(['${datasource}']));
    expect(text.match(/"uid": "\$\{datasource\}"/g)?.length).toBeGreaterThan(1);
  }
  const uids = DASHBOARDS.map((dashboard) => grafanaDashboard(dashboard).uid);
  expect(new Set(uids).size).toBe(uids.length);
});

// That something serves it with these labels is test/monitoring/names.test.ts's to show.
test('every query reads one metric', () => {
  for (const { expr, metrics } of queries)
    expect([expr, metrics]).toEqual([expr, [expect.any(String)]]);
});

test('a figure that every process serves whole is never added up over processes', () => {
  const gauges = new Set<string>(
    METRICS.filter(({ type }) => type === 'gauge').map(({ name }) => name),
  );
  const added = queries.filter(
    ({ expr, metrics: [metric = ''] }) =>
      metric.startsWith('svc_') &&
      gauges.has(metric) &&
      !OF_ONE_PROCESS.includes(metric) &&
      !/^(max|min)\b/.test(expr),
  );
  expect(gauges.has('svc_reservations_held')).toBe(true);
  expect(added.map(({ at }) => at)).toEqual([]);
});

test('a legend names the labels of its lines, and a panel the unit of its figures', () => {
  for (const { at, expr, legend, unit, by, metrics } of queries) {
    const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    expect([at, named.sort()]).toEqual([at, by.filter((label) => label !== 'le').sort()]);
    expect([at, unit]).toEqual([at, unitOf(expr, metrics[0] ?? '')]);
  }
});

test('every panel says what a rising line means, and names its alert', () => {
  const alerts = readdirSync(ALERTS_FOLDER)
    .map((name) => parseYaml(readFileSync(join(ALERTS_FOLDER, name), 'utf8')) as RuleFile)
    .flatMap(({ groups }) => groups.flatMap(({ rules }) => rules));
  expect(alerts.length).toBeGreaterThan(10);
  for (const panel of panels) {
    const description = descriptionOf(panel);
    expect([panel.at, description.startsWith(panel.rising)]).toEqual([panel.at, true]);
    expect([panel.at, panel.rising.length > 20]).toEqual([panel.at, true]);
    if (panel.alert !== undefined) expect(description).toContain(`\n\nAlert: ${panel.alert}.`);
  }
  const named = new Set(panels.flatMap(({ alert }) => (alert === undefined ? [] : [alert])));
  // Both ways: no alert without a panel that shows its figure, no panel with an alert that is gone.
  // An alert of the severity none reads no figure (test/monitoring/alerts.test.ts).
  const watched = new Set(
    alerts.filter(({ labels }) => labels.severity !== 'none').map(({ alert }) => alert),
  );
  expect([...named].sort()).toEqual([...watched].sort());
});

test('the queries that a deployment has to answer are those of the panels', () => {
  const answered = panelQueries().map(({ dashboard, panel, query }) => ({
    at: `${dashboard}: ${panel}`,
    expr: query,
  }));
  expect(answered).toEqual(queries.map(({ at, expr }) => ({ at, expr })));
});

test('a query needs what its metric needs before there is a series', () => {
  const late = METRICS.filter(({ condition }) => condition === 'after the first one').map(
    ({ name }) => name,
  );
  expect(late.length).toBeGreaterThan(3);
  for (const { at, expr, needs, metrics } of queries) {
    const [metric = ''] = metrics;
    expect([at, needs.length]).not.toEqual([at, 0]);
    if (late.includes(metric)) expect([at, needs]).toEqual([at, ['event']]);
    if (needs.includes('always')) expect([at, needs]).toEqual([at, ['always']]);
    const ofServer = /^(service|persistence|task)_/.test(metric) || expr.includes('~"temporal');
    expect([at, needs.includes('server')]).toEqual([at, ofServer]);
  }
});
