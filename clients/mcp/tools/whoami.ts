/** `whoami`: the key, and what its authority covers. */
import { z } from 'zod';
import { authority as authorityAnswer } from '../../agent/authority.ts';
import { count, maybeWord, named, word } from '../fields.ts';
import { read, whoami as whoamiAnswer } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const MOST = 50;

export const whoami = defineTool({
  name: 'whoami',
  title: 'Who this agent is, and what it may propose',
  description:
    'The key that this server uses, its namespace, and the limits of its authority: the most that one proposal may ask for, and the assets and chains that it may name. Read it before you propose.',
  effects: READ_ONLY,
  input: z.strictObject({}),
  output: z.strictObject({
    client_id: maybeWord,
    key_id: maybeWord,
    role: word,
    namespace: maybeWord,
    authority: z.strictObject({
      authority_key: word,
      max_notional: maybeWord.describe('Null: it covers no amount.'),
      allowed_assets: z.array(word).max(MOST),
      allowed_chains: z.array(word).max(MOST),
      more_assets: count.describe('How many are not shown.'),
      more_chains: count.describe('How many are not shown.'),
      max_ttl_seconds: z.int().nullable().describe('Null: no limit.'),
    }),
  }),
  run: async (_, { api, authorityKey, signal }) => {
    const caller = read(whoamiAnswer, await api.call('whoami', { signal }));
    const params = { authority_key: authorityKey };
    const limits = read(authorityAnswer, await api.call('getAgentAuthority', { params, signal }));
    const { max_notional, allowed_assets, allowed_chains, max_ttl_seconds } = limits;
    return {
      data: {
        client_id: named(caller.client_id),
        key_id: named(caller.key_id),
        role: named(caller.role) ?? '',
        namespace: named(caller.namespace),
        authority: {
          authority_key: named(limits.authority_key) ?? '',
          max_notional: named(max_notional),
          allowed_assets: some(allowed_assets),
          allowed_chains: some(allowed_chains),
          more_assets: Math.max(0, allowed_assets.length - MOST),
          more_chains: Math.max(0, allowed_chains.length - MOST),
          max_ttl_seconds,
        },
      },
      text: `Role ${named(caller.role) ?? ''}, namespace ${named(caller.namespace) ?? 'none'}. One proposal may ask for ${max_notional === null ? 'no amount' : `at most ${named(max_notional) ?? ''}`}; assets: ${listed(allowed_assets)}; chains: ${listed(allowed_chains)}.`,
    };
  },
});

function some(list: readonly string[]): string[] {
  return list.slice(0, MOST).map((each) => named(each) ?? '');
}

function listed(list: readonly string[]): string {
  return list.length === 0 ? 'none' : some(list).slice(0, 12).join(', ');
}
