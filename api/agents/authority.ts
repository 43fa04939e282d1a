/** GET agent-authorities/{authority_key}. */
import { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { ALL_ROLES } from '../../domain/roles.ts';
import { readAuthority } from '../../store/keys.ts';
import { defineRoute } from '../http/route.ts';
import { decimalString, noBody, noQuery, timestamp } from '../http/schemas.ts';

/** As in a key tool's `--authority-key`: it is part of a namespace, a template key and a path. */
export const authorityKey = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit',
  );

const agentAuthority = z
  .object({
    authority_key: z.string(),
    namespace: z.string(),
    key_id: z.string().nullable().meta({ description: 'The active key that is bound to it.' }),
    client_id: z.string().nullable(),
    max_notional: decimalString.nullable(),
    allowed_assets: z.array(z.string()).readonly(),
    allowed_chains: z.array(z.string()).readonly(),
    max_ttl_seconds: z.number().int().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({
    id: 'AgentAuthority',
    description:
      'What an agent may propose. An absent limit is null; an empty list allows nothing.',
  });

export const readAuthorityRoute = defineRoute({
  id: 'getAgentAuthority',
  method: 'GET',
  path: '/agent-authorities/{authority_key}',
  roles: ALL_ROLES,
  namespaceParam: 'authority_key',
  tag: 'Agents',
  summary: 'Read an agent authority',
  description: 'An agent reads only its own.',
  params: z.strictObject({ authority_key: authorityKey }),
  query: noQuery,
  body: noBody,
  response: agentAuthority,
  errors: ['agent_authority_not_found'],
  handler: async ({ params: { authority_key } }, { db }) => {
    const found = await readAuthority(db, authority_key);
    if (found === null)
      throw new ServiceError('agent_authority_not_found', { context: { authority_key } });
    return { status: 200, body: found };
  },
});
