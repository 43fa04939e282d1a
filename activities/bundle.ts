/**
 * The workflow code as a worker loads it: the built bundle with this process's settings in front.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkflowSettings } from '../domain/messages.ts';

const BUILT = fileURLToPath(new URL('../dist/workflows.js', import.meta.url));

/**
 * For the payloads of activities; CommonJS, because the SDK loads it with require, in Node and
 * inside the bundle alike.
 */
export const FAILURE_CONVERTER = fileURLToPath(
  new URL('../workflows/failure-converter.cjs', import.meta.url),
);

export interface BundleOptions extends Partial<WorkflowSettings> {
  /**
   * Let the Temporal UI show call stacks of waiting runs, and errors their stacks; costs a sixth of
   * the workflow thread.
   */
  readonly callStacks?: boolean;
}

/** The SDK takes a stack for every promise that a workflow makes; without frames that is cheap. */
const NO_CALL_STACKS = 'Error.stackTraceLimit = 0; ';

/**
 * The bundle of this build.
 *
 * @throws Error when nothing was built.
 */
export function workflowBundle(options: BundleOptions = {}): { readonly code: string } {
  const { encodeFailures = false, callStacks = false, traceHeaders = false } = options;
  const settings: WorkflowSettings = { encodeFailures, traceHeaders };
  // In front of everything and on its first line, so that the source map's lines stay true.
  const first = `globalThis.workflowSettings = ${JSON.stringify(settings)}; `;
  return { code: first + (callStacks ? readBuilt() : withoutCallStacks(readBuilt())) };
}

/** The bundle without call stacks. The bench uses it too, for a fair comparison. */
export function withoutCallStacks(code: string): string {
  return NO_CALL_STACKS + code;
}

function readBuilt(): string {
  try {
    return readFileSync(BUILT, 'utf8');
  } catch (error) {
    throw new Error('the workflows are not built: run `npm run build`', { cause: error });
  }
}
