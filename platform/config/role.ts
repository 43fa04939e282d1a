/** What a process does; this decides which secrets the process opens. */

export const PROCESS_ROLES = ['all', 'api', 'worker'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

export const DUTIES = ['api', 'worker'] as const;
export type Duty = (typeof DUTIES)[number];

/** Returns the duties of a role; with workers switched off, no process has the worker duty. */
export function dutiesOf(role: ProcessRole, workersEnabled: boolean): readonly Duty[] {
  return [
    ...(role === 'worker' ? [] : (['api'] as const)),
    ...(role === 'api' || !workersEnabled ? [] : (['worker'] as const)),
  ];
}
