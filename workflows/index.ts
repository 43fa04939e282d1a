/** Everything the worker registers as a workflow. */
export { capitalTransferWorkflow } from './capital-transfer.ts';
export { movementWorkflow } from './movement.ts';
