/** What a policy would have approved in a time that is over, without any effect. */
import {
  tryPolicy,
  type PastDecisions,
  type PastMovement,
  type PolicyTerms,
} from '../../domain/auto-approve/past.ts';
import { readPolicyFile } from '../../platform/auto-approve-policy.ts';
import { isId } from '../../platform/ids.ts';
import type { Database } from '../../prisma/client.ts';
import { readPastMovements, readPolicy, type PastQuery } from '../../store/auto-approve.ts';
import { withDatabase, type DatabaseOption } from '../database.ts';
import { readFile } from '../files.ts';
import { ToolError, type ToolIo } from '../io.ts';

export interface TryOptions extends DatabaseOption {
  /** The id of a stored policy. */
  readonly policy?: string;
  /** A path to JSON; `-`: standard input. */
  readonly file?: string;
  readonly from: Date;
  readonly to: Date;
}

export interface PolicyReport extends PastDecisions {
  readonly client_id: string;
  readonly strategy_id: string;
  readonly from: string;
  readonly to: string;
  /** Number of movements that are listed. */
  readonly movements: number;
}

const PAGE = 500;
/** Most movements of one report, which is held in memory. */
const MOST = 100_000;

/** Reads the policy and returns its report; changes nothing. */
export async function report(
  { policy, file, from, to, ...options }: TryOptions,
  io: ToolIo,
): Promise<PolicyReport> {
  const wanted = wantedOf(policy, file);
  if (from >= to) throw new ToolError('--from must be before --to.', { exitCode: 2 });
  const time = { since: from.toISOString(), before: to.toISOString() };
  return withDatabase(options, io, async (db) => {
    const terms = typeof wanted === 'string' ? await storedPolicy(db, wanted) : wanted;
    const { client_id, strategy_id } = terms;
    const past = await readAll(db, { client_id, strategy_id, ...time });
    // A policy is tried before it is switched on.
    const { totals, by_agents, listed } = tryPolicy({ ...terms, is_active: true }, past);
    return {
      client_id,
      strategy_id,
      from: time.since,
      to: time.before,
      movements: listed.length,
      totals,
      by_agents,
      listed,
    };
  });
}

/** Returns the id of a stored policy, or the policy of a file. */
function wantedOf(policy: string | undefined, file: string | undefined): string | PolicyTerms {
  if (policy !== undefined && file === undefined) {
    if (!isId(policy)) throw new ToolError('--policy must be the id of a policy.', { exitCode: 2 });
    return policy;
  }
  if (file !== undefined && policy === undefined)
    return readFile(file, 'policy', readPolicyFile).policy;
  throw new ToolError('Name the policy by either --policy or --file.', { exitCode: 2 });
}

async function storedPolicy(db: Database, policyId: string): Promise<PolicyTerms> {
  const policy = await readPolicy(db, policyId);
  if (policy === null)
    throw new ToolError(`There is no policy ${policyId}; GET auto-approve-policies lists them.`);
  return policy;
}

async function readAll(db: Database, query: PastQuery): Promise<readonly PastMovement[]> {
  const past: PastMovement[] = [];
  for (;;) {
    const last = past.at(-1);
    const after = last === undefined ? null : { created_at: last.created_at, id: last.movement_id };
    const page = await readPastMovements(db, query, { after, limit: PAGE });
    past.push(...page);
    if (past.length > MOST)
      throw new ToolError(
        `More than ${String(MOST)} movements were created in that time. Choose a shorter time.`,
      );
    if (page.length < PAGE) return past;
  }
}
