type Env = Record<string, string | undefined>;

/** A build under way. */
export interface TemporalBuild {
  done: Promise<string>;
  cancel(): Promise<void>;
}
export const TEMPORAL_VERSION: string;
export function cacheDir(env?: Env): string;
export function builtBinary(env?: Env): string;
export function isExecutable(path: string): boolean;
export function findOnPath(name: string, env?: Env): string | null;
export function temporalAtHand(env?: Env): boolean;
export function startTemporalBuild(env?: Env): TemporalBuild | null;
export function temporalBuildInFlight(): TemporalBuild | undefined;
