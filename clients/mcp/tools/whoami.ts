/** `whoami`: the agent's key, and what its authority covers. */
import { z } from 'zod';
import { count, maybeWord, word } from '../fields.ts';
import { read } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const MOST = 50;
const CALLER = { client_id: maybeWord, key_id: maybeWord, role: word };
const LIMITS = {
  authority_key: word,
  max_notional: maybeWord.describe('Null: it covers no amount.'),
  max_ttl_seconds: z.int().nullable().describe('Null: no limit.'),
};
const callerAnswer = z.object({ ...CALLER, namespace: maybeWord.optional() });
const authorityAnswer = z.object({
  ...LIMITS,
  allowed_assets: z.array(word),
  allowed_chains: z.array(word),
});

export const whoami = defineTool({
  name: 'whoami',
  title: 'Who this agent is, and what it may propose',
  description:
    'The key that this server uses, its namespace, and the limits of its authority: the most that one proposal may ask for, and the assets and chains that it may name. Read it before you propose.',
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({}),
  output: z.strictObject({
    ...CALLER,
    namespace: maybeWord,
    authority: z.strictObject({
      ...LIMITS,
      allowed_assets: z.array(word).max(MOST),
      allowed_chains: z.array(word).max(MOST),
      more_assets: count.describe('How many are not shown.'),
      more_chains: count.describe('How many are not shown.'),
    }),
  }),
  run: async (_, { api, authorityKey, signal }) => {
    const { namespace = null, ...caller } = read(
      callerAnswer,
      await api.call('whoami', { signal }),
    );
    const params = { authority_key: authorityKey };
    const limits = read(authorityAnswer, await api.call('getAgentAuthority', { params, signal }));
    const { max_notional: most, allowed_assets: assets, allowed_chains: chains } = limits;
    return {
      data: {
        ...caller,
        namespace,
        authority: {
          ...limits,
          allowed_assets: assets.slice(0, MOST),
          allowed_chains: chains.slice(0, MOST),
          more_assets: Math.max(0, assets.length - MOST),
          more_chains: Math.max(0, chains.length - MOST),
        },
      },
      text: `Role ${caller.role}, namespace ${namespace ?? 'none'}. One proposal may ask for ${most === null ? 'no amount' : `at most ${most}`}; assets: ${listed(assets)}; chains: ${listed(chains)}.`,
    };
  },
});

function listed(list: readonly string[]): string {
  return list.length === 0 ? 'none' : list.slice(0, 12).join(', ');
}
