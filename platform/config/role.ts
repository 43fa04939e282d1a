/** What a process does. Which secrets it opens follows from it. */

export const PROCESS_ROLES = ['all', 'api', 'worker'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

export const DUTIES = ['api', 'worker'] as const;
export type Duty = (typeof DUTIES)[number];

/** A worker that is switched off has none. */
export function dutiesOf(role: ProcessRole, workersEnabled: boolean): readonly Duty[] {
  return [
    ...(role === 'worker' ? [] : (['api'] as const)),
    ...(role === 'api' || !workersEnabled ? [] : (['worker'] as const)),
  ];
}
