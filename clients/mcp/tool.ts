/** Tools as data: the name, input, output and function of each tool. */
import type { z } from 'zod';
import type { AgentApi } from '../agent/api.ts';
import type { ToolOperation } from './operations.ts';

export interface ToolContext {
  readonly api: AgentApi<ToolOperation>;
  /** Key of the agent authority for proposals. */
  readonly authorityKey: string;
  /** Aborted when the caller cancels the call or disconnects. */
  readonly signal: AbortSignal;
}

export interface Outcome<O> {
  /** Data that matches the output schema. */
  readonly data: O;
  /** A few lines with this program's own words, ids, states and amounts; never others' text. */
  readonly text: string;
  /** True when the service accepted the request, but a rule of the service blocks it for now. */
  readonly blocked?: boolean;
}

/** The MCP annotations that tell a host what effects a tool has. */
export interface Effects {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Effects of a tool that reads one service and changes nothing. */
export const READ_ONLY: Effects = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * The part of the service's powers that a tool may have: an agent may only read and propose, so the
 * compiler refuses a tool that moves funds, or that may let more funds go.
 */
type ToolPower = 'reads' | 'narrows';

type Fields = z.core.$ZodLooseShape;

interface ToolSpec<I extends Fields, O extends Fields> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effects: Effects;
  readonly power: ToolPower;
  /** Strict, like `output`: unknown fields are refused. */
  readonly input: z.ZodObject<I, z.core.$strict>;
  readonly output: z.ZodObject<O, z.core.$strict>;
  readonly run: (
    input: z.output<z.ZodObject<I, z.core.$strict>>,
    context: ToolContext,
  ) => Promise<Outcome<z.input<z.ZodObject<O, z.core.$strict>>>>;
}

/** A tool with erased types, as the server stores it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effects: Effects;
  readonly power: ToolPower;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly invoke: (input: unknown, context: ToolContext) => Promise<Outcome<object>>;
}

/** Makes a tool: `run` is typed by the schemas, then its types are erased. */
export function defineTool<I extends Fields, O extends Fields>(spec: ToolSpec<I, O>): Tool {
  const { run, ...rest } = spec;
  return { ...rest, invoke: (input, context) => run(spec.input.parse(input), context) };
}
