import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { connect as connectSocket } from 'node:net';
import { promisify } from 'node:util';
import { ROOT } from './ports.ts';
import type { ChildSpec } from './supervise/child.ts';

const run = promisify(execFile);
/** How long ended workflows stay visible: 90 days, enough for last month's movements. */
const RETENTION = '2160h';

/** File with the server's settings and the reason for each. */
export const DYNAMIC_CONFIG_FILE = 'deploy/temporal/dynamicconfig.yaml';

/**
 * Returns the settings of the file as `key=value`, for a development server, which reads no file.
 */
export function dynamicConfig(): readonly string[] {
  const text = readFileSync(join(ROOT, DYNAMIC_CONFIG_FILE), 'utf8').replace(/^#.*\n/gm, '');
  const entries = [...text.matchAll(/^(\S+):\n {2}- value: (.+)$/gm)];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // Any other syntax in the file would be a setting that only some servers apply.
  if (lines.length !== 2 * entries.length)
    throw new Error(`${DYNAMIC_CONFIG_FILE}: each setting must be a name and exactly one value`);
  const literal = /^(true|false|\d+)$/;
  return entries.map(
    ([, key = '', value = '']) => `${key}=${literal.test(value) ? value : JSON.stringify(value)}`,
  );
}

/** Describes the process that serves Temporal from a file in the data folder. */
export function temporalPart(options: {
  binary: string;
  dataDir: string;
  port: number;
  uiPort: number;
  logDir: string;
  searchAttributes: readonly string[];
  /** URL of the codec server that decodes encrypted payloads for the UI. */
  codecEndpoint?: string | undefined;
  /** Additional settings of the server, `key=value`. */
  dynamicConfig?: readonly string[] | undefined;
}): ChildSpec {
  const {
    binary,
    dataDir,
    port,
    uiPort,
    logDir,
    searchAttributes,
    codecEndpoint,
    dynamicConfig: more = [],
  } = options;
  const address = `127.0.0.1:${port}`;
  return {
    name: 'temporal',
    command: binary,
    args: [
      ...[
        'server',
        'start-dev',
        '--ip',
        '127.0.0.1',
        '--port',
        String(port),
        '--ui-port',
        String(uiPort),
      ],
      ...[
        '--db-filename',
        join(dataDir, 'temporal.db'),
        '--log-level',
        'error',
        '--log-format',
        'json',
      ],
      ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
      ...[...dynamicConfig(), ...more].flatMap((flag) => ['--dynamic-config-value', flag]),
      ...searchAttributes.flatMap((attribute) => ['--search-attribute', attribute]),
      ...(codecEndpoint === undefined ? [] : ['--ui-codec-endpoint', codecEndpoint]),
    ],
    cwd: ROOT,
    // A developer's own Temporal profile must not redirect this server or our calls to it.
    env: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' },
    logFile: join(logDir, 'temporal.log'),
    stage: 2,
    stopSignal: 'SIGTERM', // takes a second; the other parts stop meanwhile
    stopTimeoutMs: 5_000,
    readyTimeoutMs: 60_000,
    isReady: () => hasNamespace(address, 'default'),
  };
}

/** Sets the retention of ended workflows; the development server's default is one day. */
export async function extendRetention(binary: string, port: number): Promise<void> {
  const args = [
    'operator',
    'namespace',
    'update',
    '--namespace',
    'default',
    '--retention',
    RETENTION,
  ];
  await run(binary, [...args, '--address', `127.0.0.1:${port}`], { timeout: 10_000 }).catch(
    () => undefined,
  );
}

/** Returns whether a process listens at `host:port`. */
export function answers(address: string): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  return new Promise((resolve) => {
    const socket = connectSocket({
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
    });
    socket.setTimeout(2_000, () => socket.destroy(new Error('timeout')));
    socket.once('connect', () => resolve(true)).once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
  });
}

/**
 * Returns whether the server reports that a namespace exists. Sends one hand-made gRPC call, to
 * avoid loading the whole client.
 */
function hasNamespace(address: string, namespace: string): Promise<boolean> {
  const name = Buffer.from(namespace);
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]); // field 1: the name
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const finish = (ok: boolean): void => {
      clearTimeout(timer);
      session.destroy();
      resolve(ok);
    };
    const timer = setTimeout(() => finish(false), 2_000);
    session.on('error', () => finish(false));
    const request = session.request({
      ':method': 'POST',
      ':path': '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.on('error', () => finish(false));
    request.on('response', (headers) => {
      if (headers['grpc-status'] !== undefined) finish(headers['grpc-status'] === '0');
    });
    request.on('trailers', (trailers) => finish(trailers['grpc-status'] === '0'));
    request.resume();
    request.end(Buffer.concat([head, message]));
  });
}
