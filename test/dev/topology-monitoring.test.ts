/** What Prometheus of the topology reads, and which alerts its check brings about. */
import { alertsIn, rulesForCheck, shortened } from '../../dev/topology/alert-run.ts';
import { ALERT_FAULTS } from '../../dev/topology/alerts.ts';
import { topologyPorts } from '../../dev/topology/ports.ts';
import { prometheusConfig, shippedRules } from '../../dev/topology/prometheus.ts';
import { scrapeTargets } from '../../dev/topology/start.ts';

test('each shipped alert has a fault, or the reason why unit tests alone hold it', () => {
  const shipped = [...shippedRules().values()].flatMap(alertsIn);
  expect(shipped.length).toBeGreaterThan(20);
  expect(Object.keys(ALERT_FAULTS).sort()).toEqual([...shipped].sort());
});

test('the rules of the check wait for nothing, and differ in nothing else', () => {
  const rule = [
    'groups:',
    '  - name: made-up',
    '    rules:',
    '      - alert: RelayLag',
    '        expr: max(svc_relay_lag_seconds[5m] offset 10m) > 60',
    '        for: 2m',
    '        labels: { severity: page }',
    '      - alert: Other',
    '        expr: svc_relay_lag_seconds > 60',
    '        keep_firing_for: 1h',
    '',
  ];
  expect(shortened(rule.join('\n')).split('\n')).toEqual([
    ...rule.slice(0, 4),
    '        expr: max(svc_relay_lag_seconds[30s] offset 30s) > 5',
    '        for: 0s',
    ...rule.slice(6, 9),
    '        keep_firing_for: 0s',
    '',
  ]);
  // A shipped rule that no longer has its bound would never fire in the check.
  expect(() => shortened('      - alert: LaneBlocked\n        expr: up\n')).toThrow(/LaneBlocked/);
  for (const text of rulesForCheck().values()) {
    expect(text).not.toMatch(/^ *for: [1-9]/m);
    expect(text).not.toMatch(/\[\d+[mhd]\]/);
  }
});

test('every process with metrics is scraped, in jobs whose names the rules expect', () => {
  const ports = topologyPorts(20_000);
  const targets = scrapeTargets(ports);
  expect(new Set(targets.map(({ port }) => port)).size).toBe(10);
  expect(targets.filter(({ job }) => job === 'temporal').map(({ process }) => process)).toEqual([
    'temporal-frontend',
    'temporal-history',
    'temporal-matching',
    'temporal-worker',
  ]);
  const config: unknown = JSON.parse(prometheusConfig(targets, ['a.yml']));
  expect(config).toMatchObject({
    rule_files: ['a.yml'],
    scrape_configs: [
      {
        job_name: 'fund-api',
        static_configs: [
          { targets: [`127.0.0.1:${String(ports.api1Ops)}`], labels: { process: 'api-1' } },
          { targets: [`127.0.0.1:${String(ports.api2Ops)}`], labels: { process: 'api-2' } },
        ],
      },
      { job_name: 'fund-worker' },
      { job_name: 'fund-sdk' },
      { job_name: 'temporal' },
    ],
  });
});
