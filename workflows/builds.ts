/**
 * How a run leaves the build of the workers that it is pinned to. It stays on its build until a
 * signal names that build; a signal for another build is late, and has no effect.
 */
import {
  defineSignal,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
  type ContinueAsNewOptions,
  type Workflow,
} from '@temporalio/workflow';
import { nameOfBuild, readLeaveBuild, type WayToLeave } from '../domain/builds.ts';
import { LEAVE_BUILD_SIGNAL } from '../domain/messages.ts';

/** Calls `leave` for each signal to leave the build that the run is on. */
export function onLeaveBuild(leave: (by: WayToLeave) => void): void {
  setHandler(defineSignal<[unknown]>(LEAVE_BUILD_SIGNAL), (signal) => {
    const order = readLeaveBuild(signal);
    // In a replay this is the build that the history names, so the answer stays the same.
    const at = workflowInfo().currentDeploymentVersion;
    if (order === null || order.deployment !== at?.deploymentName) return;
    if (order.build === at.buildId) leave(order.by);
  });
}

/** Returns the build that the run is on, for the result of a run that leaves it. */
export function currentBuild(): string {
  const at = workflowInfo().currentDeploymentVersion;
  return nameOfBuild({ deployment: at?.deploymentName ?? '', build: at?.buildId ?? '' });
}

/**
 * Continues the run as new. The new run stays on the build, unless this one leaves the build by
 * continuing: then it starts on the current build.
 */
export function followedBy<F extends Workflow>(
  by: WayToLeave | null,
  ...args: Parameters<F>
): Promise<never> {
  const options: ContinueAsNewOptions =
    by === 'continue' ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {};
  return makeContinueAsNewFunc<F>(options)(...args);
}
