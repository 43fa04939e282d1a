/** Prometheus over all processes of the topology: its settings, its process, what it answers. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../stack/ports.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';

/** Folder of the rule files that operators use. */
const RULES_FOLDER = join(ROOT, 'deploy', 'monitoring', 'alerts');
/** Often, so that a check does not wait; longer than a process waits for the database's figures. */
const SCRAPE_SECONDS = 5;
/** The topology lives for hours at most. */
const RETENTION = '6h';

/** A process whose metrics are read. */
export interface ScrapeTarget {
  readonly job: string;
  /** Name of the process in the topology. */
  readonly process: string;
  readonly port: number;
}

/** Returns the rule files of the deployment, by name. */
export function shippedRules(): ReadonlyMap<string, string> {
  const names = readdirSync(RULES_FOLDER).filter((name) => name.endsWith('.yml'));
  return new Map(names.map((name) => [name, readFileSync(join(RULES_FOLDER, name), 'utf8')]));
}

/**
 * Returns Prometheus' settings as JSON, which is YAML too. Processes of one job are one entry, as a
 * deployment has them.
 */
export function prometheusConfig(
  targets: readonly ScrapeTarget[],
  ruleFiles: readonly string[],
): string {
  const jobs = [...new Set(targets.map(({ job }) => job))];
  const config = {
    global: {
      scrape_interval: `${String(SCRAPE_SECONDS)}s`,
      scrape_timeout: `${String(SCRAPE_SECONDS)}s`,
      evaluation_interval: '2s',
    },
    rule_files: ruleFiles,
    scrape_configs: jobs.map((job) => ({
      job_name: job,
      static_configs: targets
        .filter((target) => target.job === job)
        .map(({ process, port }) => ({
          targets: [`127.0.0.1:${String(port)}`],
          labels: { process },
        })),
    })),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Writes settings and rules into `folder` and describes the process that reads them. */
export function prometheusPart(options: {
  readonly program: string;
  readonly folder: string;
  readonly logDir: string;
  readonly port: number;
  readonly targets: readonly ScrapeTarget[];
  readonly rules: ReadonlyMap<string, string>;
}): ChildSpec {
  const { program, folder, logDir, port, targets, rules } = options;
  mkdirSync(folder, { recursive: true });
  const files = [...rules].map(([name, text]) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  });
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, prometheusConfig(targets, files));
  return {
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--storage.tsdb.retention.time=${RETENTION}`,
      `--web.listen-address=127.0.0.1:${String(port)}`,
    ],
    cwd: folder,
    logFile: join(logDir, 'prometheus.log'),
    stage: 1,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    readyTimeoutMs: 120_000,
    isReady: async () => {
      try {
        const answer = await fetch(`http://127.0.0.1:${String(port)}/-/ready`, {
          signal: AbortSignal.timeout(2_000),
        });
        await answer.body?.cancel();
        return answer.status === 200;
      } catch {
        return false;
      }
    },
  };
}

const labels = z.record(z.string(), z.string());
const seriesSchema = z.object({ data: z.object({ result: z.array(z.unknown()) }) });
const targetsSchema = z.object({
  data: z.object({
    activeTargets: z.array(z.object({ labels, health: z.string(), lastError: z.string() })),
  }),
});
const alertsSchema = z.object({
  data: z.object({
    alerts: z.array(z.object({ labels, state: z.enum(['pending', 'firing', 'inactive']) })),
  }),
});

/** What a running Prometheus answers. Each call rejects when there is no valid answer. */
export interface Prometheus {
  /** Returns how many series a query has now. */
  series(query: string): Promise<number>;
  /** Returns the targets that are not up, with the error of each. */
  downTargets(): Promise<readonly string[]>;
  /** Returns the names of the alerts that fire. */
  firing(): Promise<ReadonlySet<string>>;
}

/** Returns what the Prometheus at this port answers. */
export function prometheusAt(port: number): Prometheus {
  const url = `http://127.0.0.1:${String(port)}`;
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}`, { signal: AbortSignal.timeout(10_000) });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`Prometheus answered ${path} with ${text}`);
    return schema.parse(JSON.parse(text));
  };
  return {
    series: async (query) =>
      (await get(`query?query=${encodeURIComponent(query)}`, seriesSchema)).data.result.length,
    downTargets: async () =>
      (await get('targets?state=active', targetsSchema)).data.activeTargets
        .filter(({ health }) => health !== 'up')
        .map((target) => {
          const name = target.labels['process'] ?? target.labels['instance'] ?? '?';
          return `${name} (${target.health}): ${target.lastError}`;
        }),
    firing: async () =>
      new Set(
        (await get('alerts', alertsSchema)).data.alerts
          .filter(({ state }) => state === 'firing')
          .map((alert) => alert.labels['alertname'] ?? ''),
      ),
  };
}
