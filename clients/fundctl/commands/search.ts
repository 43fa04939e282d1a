/** The command `fundctl search`. */
import type { Leaf } from '../../command-line/command.ts';
import { operation } from '../../command-line/operation.ts';

export const search: Leaf = operation('searchAll', {
  name: 'search',
  about: 'Find what an id, transaction hash, reference, idempotency key or address names',
  details: 'Whole and exact; at most 20. Idempotency keys are those of your own client.',
  examples: ['fundctl search INV-2026-1187'],
  args: { text: 'what to look for' },
  input: ({ args }) => ({ query: { q: args.text } }),
  show: (session, body) =>
    body.hits.length === 0
      ? 'Nothing has this name.\n'
      : session.table(body.hits, { KIND: 'kind', ID: 'id', WHAT: 'title', BY: 'matched' }),
});
