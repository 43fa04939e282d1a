/** Everything the worker registers as a workflow. */
export { movementWorkflow } from './movement.ts';
