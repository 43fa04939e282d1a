/** Requests to Temporal are counted, each try of them, and those that fail by gRPC status. */
import { createServer } from 'node:net';
import { register } from 'prom-client';
import { connectTemporal } from '../../platform/temporal.ts';

/** A port of this machine on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

async function valuesOf(name: string) {
  const metric = await register.getSingleMetric(name)?.get();
  return metric?.values ?? [];
}

test('at a server that cannot be reached each try counts, and each try failed', async () => {
  const address = `127.0.0.1:${String(await closedPort())}`;
  const temporal = connectTemporal({ address, namespace: 'default' });
  try {
    await expect(temporal.check(1_000)).rejects.toThrow();
  } finally {
    await temporal.close();
  }
  const requests = await valuesOf('svc_temporal_requests_total');
  expect(requests.map(({ labels }) => labels)).toEqual([{ operation: 'DescribeNamespace' }]);
  const failures = await valuesOf('svc_temporal_request_failures_total');
  // How a try fails depends on whether the library waits for a connection until its time is over.
  const codes = failures.map(({ labels }) => labels['status_code']);
  expect(codes.length).toBeGreaterThan(0);
  expect(['UNAVAILABLE', 'DEADLINE_EXCEEDED']).toEqual(expect.arrayContaining(codes));
  const tries = requests[0]?.value ?? 0;
  expect(tries).toBeGreaterThan(0);
  const failed = failures.reduce((sum, { value }) => sum + value, 0);
  expect(failed).toBe(tries);
});
