/** `fundctl search`. */
import { answerOf, command, type Leaf } from '../../command-line/command.ts';

export const search: Leaf = command({
  name: 'search',
  about: 'Find what an id, transaction hash, reference, idempotency key or address names',
  details: 'Whole and exact; at most 20. Idempotency keys are those of your own client.',
  examples: ['fundctl search INV-2026-1187'],
  args: { text: 'what to look for' },
  answer: answerOf('searchAll'),
  run: async ({ session, args }) => {
    const client = await session.client();
    const body = await client.call('searchAll', { query: { q: args.text } });
    await session.print(body, () =>
      body.hits.length === 0
        ? 'Nothing has this name.\n'
        : session.table(body.hits, { KIND: 'kind', ID: 'id', WHAT: 'title', BY: 'matched' }),
    );
  },
});
