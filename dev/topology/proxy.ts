/** haproxy before the APIs, with the settings that deploy/compose/haproxy.cfg ships. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { find } from '../image/packages.ts';
import { ROOT } from '../stack/ports.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import { answers } from '../stack/temporal.ts';

const SHIPPED = join(ROOT, 'deploy', 'compose', 'haproxy.cfg');

/** An API process: its port for callers, and the one with its readiness. */
export interface Behind {
  readonly apiPort: number;
  readonly opsPort: number;
}

/**
 * Returns the shipped settings for these processes instead of containers: the same timeouts,
 * repetitions and checks. Throws when the file no longer has a line that differs here.
 */
export function proxyConfig(port: number, behind: readonly Behind[]): string {
  const servers = behind.map(
    ({ apiPort, opsPort }, index) =>
      `  server api${String(index + 1)} 127.0.0.1:${String(apiPort)} check port ${String(opsPort)}`,
  );
  const changes: readonly (readonly [RegExp, string])[] = [
    // A line for each request would fill the disk of a long run.
    [/^ {2}log stdout .*\n/m, ''],
    [/^ {2}log global\n/m, ''],
    [/^ {2}option httplog\n/m, ''],
    [/^resolvers containers\n(?: {2}.*\n)+\n/m, ''],
    [/^ {2}bind :8100$/m, `  bind 127.0.0.1:${String(port)}`],
    [/ check port 9465 /, ' '],
    [/ resolvers containers init-addr none$/m, ''],
    [/^ {2}server-template .*$/m, servers.join('\n')],
  ];
  return changes.reduce(
    (text, [shipped, here]) => {
      if (!shipped.test(text)) throw new Error(`${SHIPPED} has no line ${String(shipped)}`);
      return text.replace(shipped, here);
    },
    readFileSync(SHIPPED, 'utf8'),
  );
}

/**
 * Writes the settings into `folder` and describes the process, which is ready when it listens: the
 * APIs may start afterwards. Throws when haproxy is not installed.
 */
export function proxyPart(options: {
  readonly folder: string;
  readonly logDir: string;
  readonly port: number;
  readonly behind: readonly Behind[];
}): ChildSpec {
  const { folder, logDir, port, behind } = options;
  const command = find('haproxy');
  if (command === null) throw new Error('haproxy is not installed: `apt install haproxy`');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, proxyConfig(port, behind));
  return {
    name: 'haproxy',
    command,
    args: ['-db', '-f', file],
    cwd: folder,
    logFile: join(logDir, 'haproxy.log'),
    stage: 0,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    readyTimeoutMs: 30_000,
    isReady: () => answers(`127.0.0.1:${String(port)}`),
  };
}
