/** What every section is given. */
import type { Client } from '@temporalio/client';
import type { BenchApi } from '../load/api.ts';
import { handWrittenSide } from '../load/hand-written.ts';
import { movementSide, type MovementSide } from '../load/movements.ts';
import type { Side } from '../load/side.ts';
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
  /** Templates that were registered in this run, with the reasons why they cannot be executed. */
  readonly registered: Map<string, readonly string[]>;
}

export type Section = (context: SectionContext) => Promise<void>;

export function baseline({ stack, client }: SectionContext): Side {
  return handWrittenSide({ pool: stack.pool, client });
}

/**
 * The side of a template; a text that says why there is none when this release cannot execute it.
 */
export async function movementsOf(
  { stack, api, client, registered }: SectionContext,
  template: TemplateBody,
  remote = false,
): Promise<MovementSide | string> {
  const { template_key } = template;
  const reasons = registered.get(template_key) ?? (await api.register(template));
  registered.set(template_key, reasons);
  if (reasons.length > 0) return `template not executable: ${reasons.join(', ')}`;
  return movementSide({ api, pool: stack.pool, client, template, remote });
}

/** As {@link movementsOf}, for templates that every release executes. */
export async function movements(
  context: SectionContext,
  template: TemplateBody,
  remote = false,
): Promise<MovementSide> {
  const side = await movementsOf(context, template, remote);
  if (typeof side === 'string') throw new Error(`${template.template_key}: ${side}`);
  return side;
}
