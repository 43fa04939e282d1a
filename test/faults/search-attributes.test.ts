/**
 * Search attributes on a real server that is shared with others: in namespaces of any name, with
 * what is there already.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { pino } from 'pino';
import { freePort } from '../../dev/stack/ports.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { temporalPart } from '../../dev/stack/temporal.ts';
import { SEARCH_ATTRIBUTES } from '../../domain/messages.ts';
import { connectTemporal } from '../../platform/temporal.ts';
import { startFaults } from '../../service/start-faults.ts';
import { eventually } from '../support/own-stack.ts';

const NAMES = Object.values(SEARCH_ATTRIBUTES);
const log = pino({ level: 'silent' });
const dataDir = mkdtempSync(join(tmpdir(), 'attributes-'));
const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
let address: string;
let connection: Connection;

beforeAll(async () => {
  const server = await findTemporalServer({}, () => undefined);
  if (server.kind !== 'binary') throw new Error('this test needs a server of its own');
  const port = await freePort();
  const uiPort = await freePort([port]);
  await supervisor.add(
    temporalPart({
      binary: server.path,
      dataDir,
      port,
      uiPort,
      logDir: dataDir,
      searchAttributes: [],
    }),
  );
  address = `127.0.0.1:${port}`;
  connection = await Connection.connect({ address });
}, 120_000);
afterAll(async () => {
  await connection?.close();
  await supervisor.stopAll();
  rmSync(dataDir, { recursive: true, force: true });
});

async function namespaceWith(namespace: string, attributes: Record<string, number>): Promise<void> {
  if (namespace !== 'default')
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
  for (const [name, type] of Object.entries(attributes))
    await eventually(() =>
      connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: type },
      }),
    );
}

async function register(namespace: string): Promise<void> {
  const temporal = connectTemporal({ address, namespace });
  try {
    await temporal.registerSearchAttributes(log);
  } finally {
    await temporal.close();
  }
}

async function listed(namespace: string): Promise<Record<string, number>> {
  return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
}

const OURS = Object.fromEntries(NAMES.map((name) => [name, 2]));

test.each([
  ['default', {}],
  ['team-a.finance', {}],
  ['half-there', { [SEARCH_ATTRIBUTES.asset]: 2, TheirOwn: 3 }],
])(
  'in namespace %s the missing ones are registered, again without harm',
  async (namespace, before) => {
    await namespaceWith(namespace, before);
    await register(namespace);
    await register(namespace);
    expect(await listed(namespace)).toEqual({ ...before, ...OURS });
  },
);

test('a missing namespace stops a start, and the message says what to do', async () => {
  const faultsIn = (namespace: string): Promise<readonly string[]> =>
    startFaults({}, { address, namespace }, { offline: false, duties: ['api', 'worker'] });
  expect(await faultsIn('default')).toEqual([]);
  expect(await faultsIn('nowhere')).toEqual([
    expect.stringMatching(/^SVC_TEMPORAL_NAMESPACE: there is no namespace nowhere\. Run temporal/),
  ]);
});

test('one of another type is a fault, and nothing is changed', async () => {
  const before = { [SEARCH_ATTRIBUTES.state]: 3 };
  await namespaceWith('taken', before);
  await expect(register('taken')).rejects.toThrow(
    `another type than Keyword: ${SEARCH_ATTRIBUTES.state} (Int)`,
  );
  expect(await listed('taken')).toEqual(before);
});
