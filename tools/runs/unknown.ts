/** The refusal of a build that the server does not know. */
import type { Build } from '../../domain/builds.ts';
import type { BuildState } from '../../platform/temporal-builds.ts';
import { ToolError } from '../io.ts';

/** Returns the error for a build that is not `known`: mostly a typing error. */
export function unknownBuild(
  { deployment, build }: Build,
  known: readonly BuildState[],
): ToolError {
  const names = known.map((each) => each.build).join(', ');
  return new ToolError(
    `No worker of ${deployment} has registered the build ${build}. Start its workers first. Registered: ${names === '' ? 'none' : names}.`,
  );
}
