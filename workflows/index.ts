/** Exports everything that the worker registers as a workflow. */
export { attentionWorkflow } from './attention.ts';
export { capitalTransferWorkflow } from './capital-transfer.ts';
export { movementWorkflow } from './movement.ts';
