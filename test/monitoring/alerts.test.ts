/**
 * Each alert says how urgent it is and where its heading in the runbook is, and has unit tests in
 * which it fires and in which it does not. `npm run monitoring:check` runs those.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { z } from 'zod';
import { ROOT } from '../../dev/stack/ports.ts';
import { ATTENTION_REASONS } from '../../domain/attention-reasons.ts';
import { TASK_QUEUE, venueTaskQueue } from '../../domain/messages.ts';
import { METRICS } from '../../tools/monitoring/contract.ts';

const ruleFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket', 'none']) }),
          annotations: z.strictObject({ summary: z.string().min(1), runbook: z.string() }),
        }),
      ),
    }),
  ),
});
const testFile = z.strictObject({
  rule_files: z.array(z.string()),
  evaluation_interval: z.string(),
  tests: z.array(
    z.strictObject({
      name: z.string(),
      interval: z.string(),
      input_series: z.array(z.strictObject({ series: z.string(), values: z.string() })),
      alert_rule_test: z.array(
        z.strictObject({
          eval_time: z.string(),
          alertname: z.string(),
          exp_alerts: z.array(z.unknown()),
        }),
      ),
    }),
  ),
});

/** Returns the YAML files of a folder of deploy/monitoring, each as `schema` reads it. */
function filesOf<T>(folder: string, schema: z.ZodType<T>): readonly (readonly [string, T])[] {
  const path = join(ROOT, 'deploy', 'monitoring', folder);
  return readdirSync(path).map((name) => [
    name,
    schema.parse(parseYaml(readFileSync(join(path, name), 'utf8'))),
  ]);
}

const alerts = filesOf('alerts', ruleFile).flatMap(([file, { groups }]) =>
  groups.flatMap(({ rules }) => rules.map((rule) => ({ ...rule, file }))),
);
const cases = filesOf('tests', testFile).flatMap(([file, { rule_files, tests }]) =>
  tests.flatMap(({ name, input_series, alert_rule_test }) =>
    alert_rule_test.map(({ alertname, exp_alerts }) => ({
      alertname,
      at: `${file}: ${name}`,
      rule_files,
      series: input_series.map(({ series }) => series),
      metrics: input_series.map(({ series }) => series.replace(/\{.*$/, '')),
      fires: exp_alerts.length > 0,
    })),
  ),
);
const names = alerts.map(({ alert }) => alert).sort();

test('no two alerts have one name', () => {
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name, index) => names[index + 1] === name)).toEqual([]);
});

test("each alert has its heading in the runbook's part, with its urgency, and no heading is left over", () => {
  const page = readFileSync(join(ROOT, 'docs', 'runbook.md'), 'utf8');
  const part = page.slice(page.indexOf('\n## Alerts\n'));
  const headings = [...part.matchAll(/^#### (\w+)\n\n(Page|Ticket|None)\. /gm)].map(
    ([, name = '', urgency = '']) => `${name} ${urgency.toLowerCase()}`,
  );
  expect(headings.sort()).toEqual(
    alerts.map(({ alert, labels }) => `${alert} ${labels.severity}`).sort(),
  );
  for (const { alert, annotations } of alerts)
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
});

test('each reason why a movement needs a person has an alert, or is the daily work of a desk', () => {
  const named = alerts
    .flatMap(({ expr }) => [...expr.matchAll(/svc_attention\{reason=~?"([^"]*)"/g)])
    .flatMap(([, reasons = '']) => reasons.split('|'));
  const daily = ['approval', 'approval_expires_soon', 'manual_gate', 'failed'];
  // LaneStuck reads the lane itself, which has no movement where no node waits. So does
  // LaneBlocked; the reason `lane_blocked` is also of send lanes, which have no figure.
  const ofLanes = ['lane_stuck'];
  expect(ATTENTION_REASONS.filter((reason) => !named.includes(reason)).sort()).toEqual(
    [...daily, ...ofLanes].sort(),
  );
  const read = alerts.map(({ expr }) => expr).join('\n');
  for (const metric of ['svc_lane_oldest_open_seconds', 'svc_lane_stuck'])
    expect([metric, read.includes(metric)]).toEqual([metric, true]);
  // Capital transfers have no reasons, save for a stuck run.
  expect(read).toContain('svc_capital_transfers{state="MANUAL_INTERVENTION"}');
});

/** Gauges that no rule reads, and why not. */
const UNREAD: Readonly<Record<string, string>> = {
  svc_http_unverified_body_bytes: 'what is refused at its bound counts as overloaded',
  svc_audit_chain_position: 'a position: svc_audit_unsealed_oldest_seconds says what it lacks',
  svc_approval_oldest_seconds: 'the daily work of a desk',
  svc_nodes_unanswered: 'svc_nodes_unanswered_oldest_seconds says for how long',
  svc_lane_unfinal_nonces: 'each send is one of these for a while',
  svc_reservations_held: 'an amount that is no trouble by itself',
  svc_withdrawal_quota_left: 'svc_attention has the movements that wait for it',
};

test('each gauge is read by a rule, or stands in a list with the reason why not', () => {
  const read = alerts.map(({ expr }) => expr).join('\n');
  const unread = METRICS.filter(
    ({ name, type }) => type === 'gauge' && !new RegExp(`\\b${name}\\b`).test(read),
  );
  expect(unread.map(({ name }) => name).sort()).toEqual(Object.keys(UNREAD).sort());
});

/** Alerts that fire at all times, without figures, and call no person. */
const ALWAYS = alerts.filter(({ labels }) => labels.severity === 'none');

test('the severity none is of alerts that always fire, and of no other', () => {
  expect(ALWAYS.length).toBeGreaterThan(0);
  expect(ALWAYS).toEqual(alerts.filter(({ expr }) => expr === 'vector(1)'));
});

test('each alert has a unit test in which it fires, and one in which it does not although it has figures', () => {
  for (const rule of alerts) {
    const { alert, expr } = rule;
    const own = cases.filter(({ alertname }) => alertname === alert);
    const reads = (metric: string): boolean => new RegExp(`\\b${metric}\\b`).test(expr);
    const quiet = own.filter(({ fires, metrics }) => !fires && metrics.some(reads));
    const wanted = !ALWAYS.includes(rule);
    expect([alert, own.some(({ fires }) => fires), quiet.length > 0]).toEqual([
      alert,
      true,
      wanted,
    ]);
  }
});

test('each unit test loads the rule file of the alert that it names', () => {
  const fileOf = new Map(alerts.map(({ alert, file }) => [alert, `../alerts/${file}`]));
  const astray = cases.filter(
    ({ alertname, rule_files }) => !rule_files.includes(fileOf.get(alertname) ?? ''),
  );
  expect(astray).toEqual([]);
});

test('rules and unit tests name only values that a label can have, and the queue of the service', () => {
  const selectors = [...alerts.map(({ expr }) => expr), ...cases.flatMap(({ series }) => series)]
    .flatMap((text) => [...text.matchAll(/\b(\w+)\{([^}]*)\}/g)])
    .flatMap(([, metric = '', matchers = '']) =>
      [...matchers.matchAll(/(\w+)(?:=~|!=|=)"([^"]*)"/g)].flatMap(([, label = '', values = '']) =>
        values.split('|').map((value) => ({ metric, label, value })),
      ),
    );
  const unknown = selectors.filter(({ metric, label, value }) => {
    const values = METRICS.find(({ name }) => name === metric)?.labels[label] ?? 'open';
    return values !== 'open' && !values.includes(value);
  });
  expect(unknown).toEqual([]);
  const queues = alerts.flatMap(({ expr }) => [...expr.matchAll(/task_queue="([^"]*)"/g)]);
  expect(queues.length).toBeGreaterThan(3);
  expect(new Set(queues.map(([, queue]) => queue))).toEqual(new Set([TASK_QUEUE]));
  const patterns = alerts.flatMap(({ expr }) => [...expr.matchAll(/task_queue=~"([^"]*)"/g)]);
  const each = [TASK_QUEUE, venueTaskQueue('acme-main'), 'team/venue/acme', 'team-executor'];
  for (const [, pattern = ''] of patterns)
    expect(each.filter((queue) => new RegExp(`^(?:${pattern})$`).test(queue))).toEqual([
      venueTaskQueue('acme-main'),
    ]);
  expect(patterns.length).toBeGreaterThan(0);
});
