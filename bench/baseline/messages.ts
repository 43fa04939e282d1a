/** What crosses Temporal in the hand-written workflow that everything is compared with. */
export const BASELINE_QUEUE = 'bench-baseline';
export const BASELINE_WORKFLOW = 'handWrittenWorkflow';
/** As many as a movement of three nodes has phases. */
export const BASELINE_STEPS = 12;
/** The signal that its run waits for, as a movement's waits for its approval. */
export const GO = 'go';

export interface BaselineActivities {
  /** Writes that the job has come to this step. */
  step(args: { readonly job_id: string; readonly step: number }): Promise<void>;
}
