import type { WorkflowSettings } from '../domain/messages.ts';

/**
 * Settings of the process that loads the workflows; activities/bundle.ts puts them into the code.
 */
// They decide nothing, so a replay may differ: see trace-headers.ts and failure-converter.cjs.
export function workflowSettings(): WorkflowSettings {
  const settings: unknown = Reflect.get(globalThis, 'workflowSettings');
  return (settings ?? { encodeFailures: false, traceHeaders: false }) as WorkflowSettings;
}
