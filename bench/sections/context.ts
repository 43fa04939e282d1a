/** Input of every section. */
import type { Client } from '@temporalio/client';
import type { HandWritten } from '../baseline/messages.ts';
import type { BenchApi } from '../load/api.ts';
import { handWrittenSide } from '../load/hand-written.ts';
import { movementSide, type MovementSide } from '../load/movements.ts';
import type { Side } from '../load/side.ts';
import type { ProcessName } from '../parts.ts';
import type { Collector } from '../report.ts';
import type { BenchStack } from '../stack.ts';
import type { TemplateBody } from '../templates.ts';

export interface SectionContext {
  readonly stack: BenchStack;
  readonly api: BenchApi;
  readonly client: Client;
  readonly collect: Collector;
  readonly rounds: number;
  readonly movements: number;
  readonly quick: boolean;
  /** The highest level of the section `waiting`. */
  readonly mostWaiting: number;
  /** Templates that were registered in this run, with the reasons why they cannot be executed. */
  readonly registered: Map<string, readonly string[]>;
}

export type Section = (context: SectionContext) => Promise<void>;

export function baseline({ stack, client }: SectionContext, shape: HandWritten = 'regular'): Side {
  return handWrittenSide({ pool: stack.pool, client, shape });
}

/**
 * The side of a template; a text that says why there is none when this release cannot execute it.
 * `besides`: processes that work for it beside the service's own.
 */
export async function movementsOf(
  { stack, api, client, registered }: SectionContext,
  template: TemplateBody,
  besides: readonly ProcessName[] = [],
): Promise<MovementSide | string> {
  const { template_key } = template;
  const reasons = registered.get(template_key) ?? (await api.register(template));
  registered.set(template_key, reasons);
  if (reasons.length > 0) return `template not executable: ${reasons.join(', ')}`;
  return movementSide({ api, pool: stack.pool, client, template, besides });
}

/** As {@link movementsOf}, for templates that every release executes. */
export async function movements(
  context: SectionContext,
  template: TemplateBody,
  besides: readonly ProcessName[] = [],
): Promise<MovementSide> {
  const side = await movementsOf(context, template, besides);
  if (typeof side === 'string') throw new Error(`${template.template_key}: ${side}`);
  return side;
}
