/**
 * Clauses of the functions in prisma/functions, one by one: the state before, the call of the
 * database, what it answers. Each in a transaction that is taken back. Here is what runs them, and
 * what several tables of them say.
 */
import pg from 'pg';
import { nodeFacts } from '../../domain/plan/node-facts.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { doc, startMadeUp, type MadeUp } from './made-up.ts';

let made: MadeUp;
let client: pg.Client;
/** To be called once by a file of clauses: one of nearly everything in a database of its own. */
export function withMadeUpRows(): void {
  beforeAll(async () => {
    made = await startMadeUp();
    client = await made.connect();
  });
  afterAll(() => made.close());
}

/** Stands for the movement that cases are about. */
export const OWN = '$own';

/** Name, the state before, the call, its answer (of an error, its message). */
export type Clause = readonly [name: string, first: string, ask: string, answer: unknown];

async function answered(first: string, ask: string): Promise<unknown> {
  const of = (text: string): string => text.replaceAll(OWN, made.waiting);
  await client.query('BEGIN');
  try {
    // Rows are made as they are needed, whoever may write them.
    await client.query('SET LOCAL session_replication_role = replica');
    if (first !== '') await client.query(of(first));
    const { rows } = await client.query<{ answer: unknown }>(`SELECT (${of(ask)}) AS answer`);
    return rows[0]?.answer;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.message;
    throw error;
  } finally {
    await client.query('ROLLBACK');
  }
}

export const holds = (name: string, clauses: readonly Clause[]): void =>
  describe(name, () => {
    test.each(clauses)('%s', async (_name, first, ask, answer) => {
      expect(await answered(first, ask)).toEqual(answer);
    });
  });
let position = 1;

/** Fields of a node with what a create writes beside its type; without one as they are. */
export const asMade = (fields: object): object => {
  const { node_kind, action_type } = fields as Partial<TemplateNode>;
  if (node_kind === undefined && action_type === undefined) return fields;
  const facts = nodeFacts({
    node_kind: node_kind ?? 'action',
    action_type: action_type ?? 'acme_payout',
  });
  return { ...facts, ...(facts.may_send ? {} : { flow: null }), ...fields };
};

/** One more node of a movement, like its `pay` but for these fields. */
export const also = (node_key: string, fields: object, movement = OWN): string => {
  position += 1;
  return `INSERT INTO movement_nodes SELECT (jsonb_populate_record(n, ${doc(asMade({ node_key, position, ...fields }))})).*
    FROM movement_nodes n WHERE movement_id = '${movement}' AND node_key = 'pay';`;
};
export const approve = { action_type: 'evm_erc20_approve' };
export const paid = { action_type: 'cex_withdrawal', state: 'COMPLETED', amount: '5' };
export const LATER = '2999-01-01';
export const unbound = 'DELETE FROM perp_bindings;';
export const binding = (fields: string): string => `UPDATE perp_bindings SET ${fields};`;
export const approved = `INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, at)
  SELECT movement_id, compiled_plan_hash, 'auth_off', svc_now() FROM movement_plans WHERE movement_id = '${OWN}';`;
export const frozenNow = `UPDATE cutover SET mode = 'frozen';`;
export const SINCE = '2026-01-01T00:00:00.000Z';
export const isSince = (column: string): string => `${column} = '${SINCE}'`;
