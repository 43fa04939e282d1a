/** GET /search */
import { z } from 'zod';
import { ALL_ROLES, namespaceOf } from '../../domain/roles.ts';
import { safeText } from '../../platform/redact.ts';
import { HIT_KINDS, MATCHES, search } from '../../store/search.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { listOf, noBody, noParams, oneOf, text, uuid } from '../http/schemas.ts';

const MOST_HITS = 20;

export const searchRoutes: readonly Route[] = [
  defineRoute({
    id: 'searchAll',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/search',
    roles: ALL_ROLES,
    tag: 'Service',
    summary: 'Find what an id, hash, reference, key or address names',
    description:
      'Whole and exact; hexadecimal in either case. Ids of movements, capital transfers, proposals and change requests, transaction hashes, external references, idempotency ' +
      "keys of the caller's own client, and addresses: of the allowlist, and those that movements were created for. An agent finds its own namespace's movements and proposals.",
    params: noParams,
    query: z.strictObject({
      q: text(1, 256).meta({ description: 'What to look for.', example: 'INV-2026-1187' }),
    }),
    body: noBody,
    response: z
      .object({
        hits: listOf(
          z
            .object({
              kind: oneOf(HIT_KINDS),
              id: uuid,
              title: z.string().meta({ description: 'For people; it may change.' }),
              matched: oneOf(MATCHES).meta({
                description: 'By what it was found; the first where there are several.',
              }),
            })
            .meta({ id: 'SearchHit' }),
        ).meta({
          description: `At most ${String(MOST_HITS)}: by \`matched\` in its order, then newest first.`,
        }),
      })
      .meta({ id: 'SearchResult' }),
    errors: [],
    handler: async ({ query: { q }, requester: { caller } }, deps) => {
      const clientScope = caller.client_id ?? 'anonymous';
      const wanted = { text: q, clientScope, namespace: namespaceOf(caller) };
      const hits = await search(deps.db, wanted, MOST_HITS);
      return {
        status: 200,
        body: {
          hits: hits.map((hit) => ({
            ...hit,
            title: safeText(deps.redact?.(hit.title) ?? hit.title),
          })),
        },
      };
    },
  }),
];
