/** What the server is sent about builds, and what its answers say of runs and workers. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { createBuilds } from '../../platform/temporal-builds.ts';

/** The calls, and the requests that the server got. */
function server() {
  const requests: [call: string, request: unknown][] = [];
  const taking = (call: string) => (request: unknown) => {
    requests.push([call, request]);
    return Promise.resolve({});
  };
  const workflowService = {
    setWorkerDeploymentCurrentVersion: taking('current'),
    setWorkerDeploymentRampingVersion: taking('ramp'),
  };
  const link = { connection: { workflowService } } as never;
  return { requests, builds: createBuilds('default', (work) => work(link)) };
}

test('a build that lacks the queue of a venue can be promoted: another one had it', async () => {
  const { builds, requests } = server();
  await builds.promote('d', 'before', null);
  await builds.promote('d', 'before', 5);
  const build = { namespace: 'default', deploymentName: 'd', buildId: 'before' };
  expect(requests).toEqual([
    ['current', { ...build, ignoreMissingTaskQueues: true }],
    ['ramp', { ...build, ignoreMissingTaskQueues: true, percentage: 5 }],
  ]);
});

test('a ramp ends without a build: with one it would stay, at 0 percent', async () => {
  const { builds, requests } = server();
  await builds.promote('d', 'b', 0);
  await builds.promote('d', null, null);
  expect(requests).toEqual([
    ['ramp', expect.objectContaining({ buildId: '', percentage: 0 })],
    ['current', expect.objectContaining({ buildId: '' })],
  ]);
});

const {
  WORKER_VERSIONING_MODE_VERSIONED: VERSIONED,
  WORKER_VERSIONING_MODE_UNVERSIONED: UNVERSIONED,
} = temporal.api.enums.v1.WorkerVersioningMode;
type Mode = temporal.api.enums.v1.WorkerVersioningMode;

/** The calls over a service and a client that answer like this. */
const over = (workflowService: object, signal: () => Promise<void> = () => Promise.resolve()) =>
  createBuilds('default', (work) =>
    work({
      connection: { workflowService },
      client: { workflow: { getHandle: () => ({ signal }) } },
    } as never),
  );

test('a worker counts for its own build, and only while it polls', async () => {
  const poller = (buildId: string, seconds: number, workerVersioningMode: Mode = VERSIONED) => ({
    lastAccessTime: { seconds: Math.floor(Date.now() / 1_000) - seconds },
    deploymentOptions: { deploymentName: 'd', buildId, workerVersioningMode },
  });
  const requests: unknown[] = [];
  let pollers = [poller('lives', 60), poller('gone', 80), poller('lives', 80, UNVERSIONED)];
  const builds = over({
    describeTaskQueue: (request: unknown) => {
      requests.push(request);
      return Promise.resolve({ pollers });
    },
  });
  expect(await builds.hasWorker('d', 'lives')).toBe(true);
  expect(await builds.hasWorker('d', 'gone')).toBe(false);
  expect(await builds.hasWorker('other', 'lives')).toBe(false);
  expect(await builds.hasWorker('d', null)).toBe(false);
  pollers = [poller('', 60, UNVERSIONED)];
  expect(await builds.hasWorker('d', null)).toBe(true);
  expect(await builds.hasWorker('d', 'lives')).toBe(false);
  // The queue and the kind of task that run workflows: TASK_QUEUE_TYPE_WORKFLOW is 1.
  expect(requests[0]).toMatchObject({ taskQueue: { name: 'fund-movements' }, taskQueueType: 1 });
});

const OPEN_ON_B =
  'TemporalWorkerDeploymentVersion="d:b" AND TemporalWorkflowVersioningBehavior="Pinned" AND ExecutionStatus="Running"';

test('only open runs that are pinned to the build count, whatever it is called', async () => {
  const queries: string[] = [];
  const builds = over({
    countWorkflowExecutions: ({ query }: { query: string }) => {
      queries.push(query);
      return Promise.resolve({ count: 7 });
    },
  });
  expect(await builds.countOpen({ deployment: 'd', build: 'b' })).toBe(7);
  await builds.countOpen({ deployment: 'd', build: 'b" OR "\\' });
  expect(queries).toEqual([OPEN_ON_B, OPEN_ON_B.replace('d:b', String.raw`d:b\" OR \"\\`)]);
});

test('runs are listed page by page, up to the limit', async () => {
  const requests: { query: string; pageSize: number; nextPageToken: Uint8Array }[] = [];
  const pages = [['m1', 'm2'], [], ['m3', 'm4']];
  const builds = over({
    listWorkflowExecutions: (request: (typeof requests)[number]) => {
      requests.push(request);
      const at = request.nextPageToken[0] ?? 0;
      const executions = (pages[at] ?? []).map((workflowId) => ({
        execution: { workflowId, runId: `run of ${workflowId}` },
      }));
      const next = at + 1 < pages.length ? [at + 1] : [];
      return Promise.resolve({ executions, nextPageToken: Uint8Array.from(next) });
    },
  });
  const listed = async (limit: number) =>
    (await builds.listOpen({ deployment: 'd', build: 'b' }, limit)).map(({ runId }) => runId);
  expect(await listed(3_000)).toEqual(['m1', 'm2', 'm3', 'm4'].map((id) => `run of ${id}`));
  expect(requests.map(({ query, pageSize }) => [query, pageSize])).toEqual(
    pages.map(() => [OPEN_ON_B, 1_000]),
  );
  expect(await listed(3)).toEqual(['m1', 'm2', 'm3'].map((id) => `run of ${id}`));
  requests.length = 0;
  expect(await listed(2)).toEqual(['run of m1', 'run of m2']);
  expect(requests).toHaveLength(1);
});

test('a run that is closed leaves nothing; any other fault of a signal is one', async () => {
  const leave = (signal: () => Promise<void>): Promise<void> =>
    over({}, signal).leave(
      { workflowId: 'm1', runId: 'r1' },
      { deployment: 'd', build: 'b', by: 'restart' },
    );
  await leave(() => Promise.reject(new WorkflowNotFoundError('closed', 'm1', 'r1')));
  await expect(leave(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
});

test('a deployment that no worker has registered has no builds; other faults are thrown', async () => {
  const failing = (code: number) =>
    over({
      describeWorkerDeployment: () =>
        Promise.reject(Object.assign(new Error('refused'), { code, details: '', metadata: {} })),
    });
  // NOT_FOUND is 5, UNAVAILABLE is 14.
  expect(await failing(5).list('d')).toEqual([]);
  await expect(failing(14).list('d')).rejects.toThrow('refused');
});

test('a ramp is seen whether or not it leads to a build', async () => {
  const isRamped = (routingConfig: object | null) =>
    over({
      describeWorkerDeployment: () => Promise.resolve({ workerDeploymentInfo: { routingConfig } }),
    }).isRamped('d');
  const to = { deploymentName: 'd', buildId: 'b' };
  expect(await isRamped({ rampingVersionPercentage: 5 })).toBe(true);
  expect(await isRamped({ rampingDeploymentVersion: to, rampingVersionPercentage: 5 })).toBe(true);
  expect(await isRamped({ rampingDeploymentVersion: to, rampingVersionPercentage: 0 })).toBe(true);
  expect(await isRamped({ currentDeploymentVersion: to, rampingVersionPercentage: 0 })).toBe(false);
  expect(await isRamped(null)).toBe(false);
});

test('new runs start where the task queue says, whatever the deployment', async () => {
  const takers = (versioningInfo: object | null) =>
    over({
      describeTaskQueue: () => Promise.resolve({ pollers: [], versioningInfo }),
    }).takers();
  const version = (deploymentName: string) => ({ deploymentName, buildId: 'b' });
  expect(await takers(null)).toEqual([null]);
  expect(
    await takers({
      currentDeploymentVersion: version('d'),
      rampingDeploymentVersion: version('e'),
      rampingVersionPercentage: 5,
    }),
  ).toEqual([
    { deployment: 'd', build: 'b' },
    { deployment: 'e', build: 'b' },
  ]);
});

test('workers without a build are none of the builds, and an unknown status is named so', async () => {
  const { WorkerDeploymentVersionStatus: Status } = temporal.api.enums.v1;
  const summary = (buildId: string | null, status: number) => ({
    status,
    deploymentVersion: buildId === null ? null : { deploymentName: 'd', buildId },
  });
  const builds = over({
    describeWorkerDeployment: () =>
      Promise.resolve({
        workerDeploymentInfo: {
          versionSummaries: [
            summary('new', Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT),
            summary('old', Status.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING),
            summary('other', 99),
            summary('', Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT),
            summary(null, Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT),
          ],
        },
      }),
  });
  expect(await builds.list('d')).toEqual([
    { deployment: 'd', build: 'new', status: 'current' },
    { deployment: 'd', build: 'old', status: 'draining' },
    { deployment: 'd', build: 'other', status: 'unknown' },
  ]);
});
