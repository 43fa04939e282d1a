import type { WorkflowSettings } from '../domain/messages.ts';

/**
 * What the process that loads the workflows asks of them; activities/bundle.ts writes it in front
 * of their code.
 */
// The same for a run and its replay by one process, and nothing that decides: see trace-headers.ts
// and failure-converter.cjs.
export function workflowSettings(): WorkflowSettings {
  const given: unknown = Reflect.get(globalThis, 'workflowSettings');
  return (given ?? { encodeFailures: false, traceHeaders: false }) as WorkflowSettings;
}
