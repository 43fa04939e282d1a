/**
 * Reads the build under which a process registers its workers: from the service's own settings, or
 * else from the variables that Temporal's controller for Kubernetes sets.
 */
import type { Build } from '../../domain/builds.ts';
import { BUILD_ID, DEPLOYMENT_NAME } from './kinds.ts';
import type { Values } from './settings.ts';

export interface ReadBuild {
  /** Null: the workers have no build. */
  readonly build: Build | null;
  readonly faults: readonly string[];
}

/** Reads both parts. `values` lacks settings that already have a fault. */
export function readBuild(values: Partial<Values>, environment: NodeJS.ProcessEnv): ReadBuild {
  const deployment = deploymentOf(values.SVC_TEMPORAL_DEPLOYMENT_NAME, environment);
  const build = partOf(
    ['SVC_TEMPORAL_BUILD_ID', values.SVC_TEMPORAL_BUILD_ID],
    ['TEMPORAL_WORKER_BUILD_ID', environment['TEMPORAL_WORKER_BUILD_ID']],
    BUILD_ID,
  );
  const faults = [...deployment.faults, ...build.faults];
  if (faults.length > 0) return { build: null, faults };
  if (deployment.value !== null && build.value !== null)
    return { build: { deployment: deployment.value, build: build.value }, faults };
  if (deployment.value === null && build.value === null) return { build: null, faults };
  const [missing, set] =
    build.value === null
      ? ['SVC_TEMPORAL_BUILD_ID', deployment.name]
      : ['SVC_TEMPORAL_DEPLOYMENT_NAME', build.name];
  // One that is set and missing here has a fault of its own already.
  if ((environment[missing] ?? '') !== '') return { build: null, faults };
  return { build: null, faults: [`${missing}: must be set where ${set} is; set both, or neither`] };
}

/** A part of the build: the variable that it was read from, and its value; null when unset. */
export interface BuildPart {
  readonly name: string;
  readonly value: string | null;
  readonly faults: readonly string[];
}

/** Reads the deployment's name alone, for commands about all its builds. */
export function deploymentOf(own: string | undefined, environment: NodeJS.ProcessEnv): BuildPart {
  return partOf(
    ['SVC_TEMPORAL_DEPLOYMENT_NAME', own],
    ['TEMPORAL_DEPLOYMENT_NAME', environment['TEMPORAL_DEPLOYMENT_NAME']],
    DEPLOYMENT_NAME,
  );
}

type Named = readonly [name: string, value: string | undefined];

function partOf(ours: Named, theirs: Named, kind: typeof BUILD_ID): BuildPart {
  const [name, value] = ours[1] === undefined ? theirs : ours;
  if (value === undefined || value === '') return { name: ours[0], value: null, faults: [] };
  const parsed = kind.schema.safeParse(value);
  if (parsed.success) return { name, value: parsed.data, faults: [] };
  const faults = parsed.error.issues.map(({ message }) => `${name}: ${message}`);
  return { name, value: null, faults };
}
