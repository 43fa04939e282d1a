/**
 * The main exports of the kit's package: everything that an executor over HTTP needs.
 * `task-queue.ts` is separate, since only that part needs Temporal's packages.
 */
export * from './define.ts';
export { serveExecutor, type ServedExecutor, type ServeOptions } from './http.ts';
export {
  openJournal,
  type Journal,
  type JournalChange,
  type JournalEntry,
} from './submit-journal.ts';
export { stopOnSignal } from './until-signal.ts';
export type {
  Artifact,
  CompletionAssurance,
  ExecutionResult,
  ExecutionState,
  ExecutorPhase,
  SignRequest,
} from '../domain/executor.ts';
export type { VenueWaitCode } from '../domain/venue-waits.ts';
