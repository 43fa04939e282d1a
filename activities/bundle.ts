/** Loads the workflow code for a worker: the built bundle, preceded by this process's settings. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkflowSettings } from '../domain/messages.ts';

const BUILT = fileURLToPath(new URL('../dist/workflows.js', import.meta.url));

/**
 * Path of the converter that encrypts failures in the payloads of activities. A CommonJS file,
 * because the SDK loads it with `require`, both in Node and inside the bundle.
 */
export const FAILURE_CONVERTER = fileURLToPath(
  new URL('../workflows/failure-converter.cjs', import.meta.url),
);

export interface BundleOptions extends Partial<WorkflowSettings> {
  /**
   * Lets the Temporal UI show call stacks of waiting runs, and lets errors have stacks. Costs a
   * sixth of the workflow thread's time.
   */
  readonly callStacks?: boolean;
}

/** The SDK captures a call stack for every promise of a workflow; a limit of 0 makes that cheap. */
const NO_CALL_STACKS = 'Error.stackTraceLimit = 0; ';

/**
 * Returns the bundle of this build, with the settings in its first line.
 *
 * @throws Error when the workflows are not built.
 */
export function workflowBundle(options: BundleOptions = {}): { readonly code: string } {
  const { encodeFailures = false, traceHeaders = false, versioned = false } = options;
  const { callStacks = false } = options;
  const settings: WorkflowSettings = { encodeFailures, traceHeaders, versioned };
  // Added to the first line, so that the line numbers of the source map stay correct.
  const first = `globalThis.workflowSettings = ${JSON.stringify(settings)}; `;
  return { code: first + (callStacks ? readBuilt() : withoutCallStacks(readBuilt())) };
}

/** Returns the bundle without call stacks. The bench calls this too, for a fair comparison. */
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
