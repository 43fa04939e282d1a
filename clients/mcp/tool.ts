/** Tools as data: what each is called, takes, answers and does. */
import type { z } from 'zod';
import type { AgentApi } from '../agent/api.ts';
import type { ToolOperation } from './operations.ts';

export interface ToolContext {
  readonly api: AgentApi<ToolOperation>;
  /** The authority that proposals are made under. */
  readonly authorityKey: string;
  /** Aborted when the caller cancels, or is gone. */
  readonly signal: AbortSignal;
}

export interface Outcome<O> {
  /** What the output schema says. */
  readonly data: O;
  /** A few lines of our own words, ids, states and amounts; never text of others. */
  readonly text: string;
  /** The service took the request, and a rule of it says no for now. */
  readonly blocked?: boolean;
}

/** What a tool does to the world, as hosts read it. */
export interface Effects {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Tools that read one service, and change nothing. */
export const READ_ONLY: Effects = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

type Fields = z.core.$ZodLooseShape;

interface ToolSpec<I extends Fields, O extends Fields> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effects: Effects;
  /** Both are strict. */
  readonly input: z.ZodObject<I, z.core.$strict>;
  readonly output: z.ZodObject<O, z.core.$strict>;
  readonly run: (
    input: z.output<z.ZodObject<I, z.core.$strict>>,
    context: ToolContext,
  ) => Promise<Outcome<z.input<z.ZodObject<O, z.core.$strict>>>>;
}

/** A tool whose types are erased, as the server holds it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effects: Effects;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly invoke: (input: unknown, context: ToolContext) => Promise<Outcome<object>>;
}

/** Types `run` by the schemas, then erases them. */
export function defineTool<I extends Fields, O extends Fields>(spec: ToolSpec<I, O>): Tool {
  const { run, ...rest } = spec;
  return { ...rest, invoke: (input, context) => run(spec.input.parse(input), context) };
}
