/** What a rule would have changed in a time that is over, without putting it in force. */
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import { readApprovalRule } from '../../platform/approval-rule.ts';
import { tryRule, type TriedMovement } from '../../store/approvals.ts';
import { withDatabase, type DatabaseOption } from '../database.ts';
import { readFile } from '../files.ts';
import { ToolError, type ToolIo } from '../io.ts';

export interface TryOptions extends DatabaseOption {
  /** A path to JSON; `-`: standard input. */
  readonly file: string;
  readonly from: Date;
  readonly to: Date;
}

/**
 * What would have become of a movement. `waits`: it was approved by a policy or a cap, and would
 * have waited for people; `stopped`: fewer people approved it than the rule asks; `passes`: enough
 * did; `unchanged`: it was not approved.
 */
export type Would = 'waits' | 'stopped' | 'passes' | 'unchanged';

export interface RuleReport {
  readonly from: string;
  readonly to: string;
  /** How many movements the rule would have held for. */
  readonly movements: number;
  readonly would: Readonly<Record<Would, number>>;
  readonly listed: readonly (Omit<TriedMovement, 'enough'> & { readonly would: Would })[];
}

/** Reads the rule and returns its report; changes nothing. */
export async function report(
  { file, from, to, ...options }: TryOptions,
  io: ToolIo,
): Promise<RuleReport> {
  const rule = ruleOf(file);
  if (rule.applies_to !== 'movement')
    throw new ToolError(
      `Only a rule for movements can be tried, and this is for ${rule.applies_to}.`,
      {
        exitCode: 2,
      },
    );
  if (from >= to) throw new ToolError('--from must be before --to.', { exitCode: 2 });
  const time = { since: from.toISOString(), before: to.toISOString() };
  const tried = await withDatabase(options, io, (db) => tryRule(db, rule, time));
  const would = { waits: 0, stopped: 0, passes: 0, unchanged: 0 };
  const listed = tried.map(({ enough, ...movement }) => {
    const what = wouldBe({ ...movement, enough });
    would[what] += 1;
    return { ...movement, would: what };
  });
  return { from: time.since, to: time.before, movements: tried.length, would, listed };
}

function wouldBe({ approved_by, enough }: TriedMovement): Would {
  if (approved_by === null) return 'unchanged';
  if (approved_by === 'policy' || approved_by === 'template_cap') return 'waits';
  return enough ? 'passes' : 'stopped';
}

/** Reads a rule from a file; throws a {@link ToolError} that says what does not fit. */
export function ruleOf(file: string): ApprovalRule {
  return readFile(file, 'rule', readApprovalRule).rule;
}
