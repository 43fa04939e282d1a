import type { WorkflowSettings } from '../domain/messages.ts';

const NONE: WorkflowSettings = { encodeFailures: false, traceHeaders: false, versioned: false };

/**
 * Returns the settings of the process that loads the workflows; activities/bundle.ts puts them into
 * the bundled code.
 */
// The settings decide nothing, so they may differ in a replay: see trace-headers.ts and
// failure-converter.cjs.
export function workflowSettings(): WorkflowSettings {
  const settings: unknown = Reflect.get(globalThis, 'workflowSettings');
  return (settings ?? NONE) as WorkflowSettings;
}
