/** Names the withdrawals of a plan that would wait for their venue, as it last showed itself. */
import { specOf } from '../../domain/actions/built-in.ts';
import { resolveAmount } from '../../domain/plan/amount.ts';
import type { CompiledNode, CompiledPlan } from '../../domain/plan/types.ts';
import { expectedWait, type WithdrawalOutlook } from '../../domain/withdrawal-outlook.ts';
import { readOutlooks } from '../../store/outlooks.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { PreviewResponse } from './preview-schema.ts';

type Waiting = PreviewResponse['would_wait'][number];

/** Returns each such node with its reason; reads the database only if the plan has withdrawals. */
export async function wouldWait(
  { nodes, intent }: CompiledPlan,
  { db, settings }: Pick<ApiDependencies, 'db' | 'settings'>,
): Promise<readonly Waiting[]> {
  const paidOut = nodes.filter(({ action_type }) => specOf(action_type).pool === 'exchange');
  if (paidOut.length === 0) return [];
  const outlooks = await readOutlooks(db, settings.balanceStaleSeconds);
  return paidOut.flatMap((node) => waitOf(node, intent.amount, outlooks));
}

function waitOf(
  { node_key, asset, config }: CompiledNode,
  intentAmount: string,
  outlooks: ReadonlyMap<string, WithdrawalOutlook>,
): readonly Waiting[] {
  const { venue, network } = config;
  const outlook = typeof venue === 'string' ? outlooks.get(venue) : undefined;
  if (outlook === undefined || typeof network !== 'string') return [];
  const amount = resolveAmount(config, intentAmount, () => null);
  const wait = expectedWait(outlook, { asset, network, amount });
  if (wait === null) return [];
  const { code: error_code, message, opens_at } = wait;
  return [{ node_key, error_code, message, opens_at }];
}
