/** The builds of the workers as Temporal's server knows them, and the runs pinned to each. */
import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  type Client,
  type Connection,
} from '@temporalio/client';
import proto from '@temporalio/proto';
import {
  nameOfBuild,
  wayOn,
  type Build,
  type LeaveBuild,
  type WayToLeave,
} from '../domain/builds.ts';
import { LEAVE_BUILD_SIGNAL, TASK_QUEUE } from '../domain/messages.ts';
import { describeQueue, isOfBuild, takersOf, WORKFLOWS } from './pending-task.ts';

/** What the server does with a build: new runs go to the current and the ramping one. */
export type BuildStatus =
  'created' | 'inactive' | 'current' | 'ramping' | 'draining' | 'drained' | 'unknown';

export interface BuildState extends Build {
  readonly status: BuildStatus;
}

/** One run of a workflow. */
export interface RunId {
  readonly workflowId: string;
  readonly runId: string;
}

export interface Builds {
  /**
   * Lists the builds of a deployment, newest first; empty when the server does not know the
   * deployment.
   */
  list(deployment: string): Promise<readonly BuildState[]>;
  /**
   * Returns whether a ramp is set in the deployment, also one to workers without a build, which
   * {@link list} does not show.
   */
  isRamped(deployment: string): Promise<boolean>;
  /**
   * Returns the builds on which new runs start, of any deployment: the server decides by task
   * queue. Null stands for workers without a build. Follows a promotion within seconds.
   */
  takers(): Promise<readonly (Build | null)[]>;
  /** Returns the number of open runs pinned to a build. The server's count lags by seconds. */
  countOpen(build: Build): Promise<number>;
  /** Lists at most `limit` open runs pinned to a build. The server's list lags by seconds. */
  listOpen(build: Build, limit: number): Promise<readonly RunId[]>;
  /** Signals a run to leave its build; does nothing when the run is closed. */
  leave(run: RunId, order: LeaveBuild): Promise<void>;
  /** Returns how runs leave a build on this server. */
  wayOut(): Promise<WayToLeave>;
  /**
   * Returns whether a worker of the build has polled in about the last minute; null stands for
   * workers without a build.
   */
  hasWorker(deployment: string, build: string | null): Promise<boolean>;
  /**
   * Makes a build the current one, or sends a share of the new runs to it (`ramp`, in percent). The
   * build null stands for workers without a build; a `ramp` of 0 ends the ramp. The server accepts
   * a build whose workers have gone.
   */
  promote(deployment: string, build: string | null, ramp: number | null): Promise<void>;
}

interface Link {
  readonly connection: Pick<Connection, 'workflowService'>;
  readonly client: Pick<Client, 'workflow'>;
}

/** gRPC's code for what the server does not know. */
const NOT_FOUND = 5;
/** The server returns no longer pages. */
const PAGE_SIZE = 1_000;

/** Returns the calls; `limited` runs each with its time limit over the current connection. */
export function createBuilds(
  namespace: string,
  limited: <T>(work: (link: Link) => Promise<T>) => Promise<T>,
): Builds {
  const describe = (deploymentName: string) =>
    limited(async ({ connection: { workflowService } }) => {
      try {
        const described = await workflowService.describeWorkerDeployment({
          namespace,
          deploymentName,
        });
        return described.workerDeploymentInfo;
      } catch (error) {
        if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND) return null;
        throw error;
      }
    });
  const describeOwnQueue = () =>
    limited(({ connection }) =>
      describeQueue({ connection, namespace }, { name: TASK_QUEUE, type: WORKFLOWS }),
    );
  return {
    list: async (deployment) =>
      ((await describe(deployment))?.versionSummaries ?? []).flatMap(stateOf),
    isRamped: async (deployment) => {
      const routing = (await describe(deployment))?.routingConfig;
      const build = routing?.rampingDeploymentVersion?.buildId ?? '';
      // A ramp to workers without a build has a percentage alone. One at 0 percent has a build, and
      // the server does not drain it.
      return build !== '' || (routing?.rampingVersionPercentage ?? 0) > 0;
    },
    takers: async () => takersOf(null, (await describeOwnQueue()).versioningInfo) ?? [null],
    countOpen: (build) =>
      limited(async ({ connection }) => {
        const query = openRunsOf(build);
        const { count } = await connection.workflowService.countWorkflowExecutions({
          namespace,
          query,
        });
        return Number(count);
      }),
    listOpen: async (build, limit) => {
      const query = openRunsOf(build);
      const runs: RunId[] = [];
      let nextPageToken: Uint8Array = new Uint8Array();
      do {
        const page = await limited(({ connection }) =>
          connection.workflowService.listWorkflowExecutions({
            namespace,
            pageSize: Math.min(PAGE_SIZE, limit),
            nextPageToken,
            query,
          }),
        );
        for (const { execution } of page.executions)
          runs.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
        ({ nextPageToken } = page);
      } while (nextPageToken.length > 0 && runs.length < limit);
      return runs.slice(0, limit);
    },
    leave: ({ workflowId, runId }, order) =>
      limited(async ({ client }) => {
        try {
          await client.workflow.getHandle(workflowId, runId).signal(LEAVE_BUILD_SIGNAL, order);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }),
    wayOut: () =>
      limited(async ({ connection }) => {
        const { serverVersion } = await connection.workflowService.getSystemInfo({});
        return wayOn(serverVersion);
      }),
    hasWorker: async (deployment, build) => {
      const { pollers } = await describeOwnQueue();
      const of = build === null ? null : { deployment, build };
      return pollers.some((poller) => isOfBuild(poller, of));
    },
    promote: (deploymentName, build, percentage) =>
      limited(async ({ connection: { workflowService } }) => {
        // Without a build, 0 percent ends a ramp; with one, the ramp would stay, at 0 percent.
        const buildId = percentage === 0 ? '' : (build ?? '');
        // Builds may differ in the queues of their venues. Runs stay with the queues of their
        // build, so one that another build lacks must keep no operator from going back to it.
        const ignoreMissingTaskQueues = true;
        const version = { namespace, deploymentName, buildId, ignoreMissingTaskQueues };
        if (percentage === null) await workflowService.setWorkerDeploymentCurrentVersion(version);
        else await workflowService.setWorkerDeploymentRampingVersion({ ...version, percentage });
      }),
  };
}

/**
 * Returns the query for open runs pinned to a build. A run that follows the current build is not
 * pinned, and keeps no build open.
 */
function openRunsOf(build: Build): string {
  // The server lists builds of any name: other programs may register them, too.
  const name = nameOfBuild(build).replace(/["\\]/g, '\\$&');
  return `TemporalWorkerDeploymentVersion="${name}" AND TemporalWorkflowVersioningBehavior="Pinned" AND ExecutionStatus="Running"`;
}

const { WorkerDeploymentVersionStatus: Status } = proto.temporal.api.enums.v1;
const STATUSES: Readonly<Record<number, BuildStatus>> = {
  [Status.WORKER_DEPLOYMENT_VERSION_STATUS_CREATED]: 'created',
  [Status.WORKER_DEPLOYMENT_VERSION_STATUS_INACTIVE]: 'inactive',
  [Status.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT]: 'current',
  [Status.WORKER_DEPLOYMENT_VERSION_STATUS_RAMPING]: 'ramping',
  [Status.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING]: 'draining',
  [Status.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINED]: 'drained',
};

type Summary =
  proto.temporal.api.deployment.v1.WorkerDeploymentInfo.IWorkerDeploymentVersionSummary;

function stateOf({ deploymentVersion, status }: Summary): readonly BuildState[] {
  const { deploymentName, buildId } = deploymentVersion ?? {};
  if (deploymentName == null || buildId == null || buildId === '') return [];
  const known = STATUSES[status ?? Status.WORKER_DEPLOYMENT_VERSION_STATUS_UNSPECIFIED];
  return [{ deployment: deploymentName, build: buildId, status: known ?? 'unknown' }];
}
