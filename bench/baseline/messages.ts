/** What crosses Temporal in the hand-written workflows that everything is compared with. */
export const BASELINE_QUEUE = 'bench-baseline';
/** As many as a movement of three nodes has phases. */
export const BASELINE_STEPS = 12;
/** The signal that its run waits for, as a movement's waits for its approval. */
export const GO = 'go';

/** The two shapes; a workflow's name is its function's. */
export const HAND_WRITTEN = {
  regular: 'handWrittenWorkflow',
  careful: 'carefulWorkflow',
} as const;
export type HandWritten = keyof typeof HAND_WRITTEN;

export interface BaselineActivities {
  /** Writes that the job has come to this step. */
  step(args: { readonly job_id: string; readonly step: number }): Promise<void>;
}
