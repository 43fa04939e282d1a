/** How long the chart has Kubernetes wait is how long the service itself may take to stop. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { FLUSH_MS } from '../../platform/handover.ts';
import { FINISH_SECONDS } from '../../service/api.ts';
import { RECORD_SECONDS } from '../../service/stop.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('an API has its drain, its requests and its handing over; a worker its longest call and its record', () => {
  const api = FINISH_SECONDS + FLUSH_MS / 1_000;
  const worker = RECORD_SECONDS;
  expect(read('deploy/helm/fund-movement-orchestrator/templates/_helpers.tpl')).toContain(
    `add $root.Values.drainSeconds (ternary ${String(api)} (add $root.Values.longestTimeoutSeconds ${String(worker)}) (eq .role "api")) 10`,
  );
  expect(read('docs/operations.md')).toContain(
    `max(SVC_DRAIN_SECONDS + ${String(api)}, longest timeout_seconds + ${String(worker)}) + 10`,
  );
  expect(read('docs/deploy.md')).toContain(
    `for an API \`SVC_DRAIN_SECONDS\` and ${String(api + 10)} s`,
  );
  const [, compose] = /main.js', 'api'\][\s\S]*?stop_grace_period: (\d+)s/.exec(
    read('docker-compose.yml'),
  ) ?? ['', ''];
  // With the drain that is the default.
  expect(Number(compose)).toBe(10 + api + 10);
});
