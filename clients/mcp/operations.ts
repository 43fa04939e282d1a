/** All operations that the tool server may send to the service: eight reads, and the proposal. */
import { PROPOSE, READS } from '../agent/operations.ts';

export const TOOL_OPERATIONS = { ...READS, ...PROPOSE } as const;
export type ToolOperation = keyof typeof TOOL_OPERATIONS;
