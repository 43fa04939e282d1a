/** PUT signers/{signer_key}/expected-identity. */
import { z } from 'zod';
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES } from '../../domain/roles.ts';
import { readIdentity } from '../../signers/identity.ts';
import { readSignerRow, setExpectedIdentity } from '../../store/registry.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { defineRoute } from '../http/route.ts';
import { noQuery } from '../http/schemas.ts';
import { liveIdentity } from './live-identity.ts';
import { registryKey, setExpectedIdentityRequest, setExpectedIdentityResponse } from './schema.ts';

export const setExpectedIdentityRoute = defineRoute({
  id: 'setExpectedSignerIdentity',
  method: 'PUT',
  power: { widens: 'signers' },
  path: '/signers/{signer_key}/expected-identity',
  roles: ADMIN_ROLES,
  tag: 'Registries',
  summary: "Pin a signer's expected address",
  description:
    "Reads the signer's address again. The pin changes only when the submitted address is that address and " +
    '`previous_expected_address` is the stored pin; when all three are equal already the outcome is `noop`.',
  params: z.strictObject({ signer_key: registryKey }),
  query: noQuery,
  body: setExpectedIdentityRequest,
  response: setExpectedIdentityResponse,
  errors: [
    'signer_not_found',
    'signer_identity_not_applicable',
    'signer_expected_identity_invalid',
    'signer_runtime_identity_unavailable',
    'signer_runtime_identity_invalid',
    'signer_identity_mismatch',
    'previous_expected_address_mismatch',
  ],
  handler: async ({ params, body, requester }, deps) => {
    const { db, signers } = deps;
    const { signer_key } = params;
    const signer = signers.get(signer_key);
    const family =
      signer?.descriptor.chain_family ?? (await readSignerRow(db, signer_key))?.chain_family;
    if (family === undefined)
      throw new ServiceError('signer_not_found', { context: { signer_key } });
    if (family !== 'evm')
      throw new ServiceError('signer_identity_not_applicable', { context: { signer_key } });

    const expected = readIdentity(body.expected_address);
    const live = await liveIdentity(signer);
    const previous = body.previous_expected_address;
    const about = {
      action: 'signer.set_expected_identity',
      entity_type: 'signer',
      entity_key: signer_key,
      details: {
        expected_address: body.expected_address,
        previous_expected_address: previous,
        runtime_address: live.address,
      },
    } as const;
    const subject = { ...about, details: { ...about.details, reason: body.reason } };
    return auditedRefusal(deps, requester, subject, async () => {
      const outcome = await setExpectedIdentity(db, {
        key: signer_key,
        declared: signer?.descriptor,
        expected: expected.ok ? expected.address : body.expected_address,
        previous,
        runtime: live.address,
        problem: expected.ok ? live.problem : 'signer_expected_identity_invalid',
        audit: auditOf(requester, { ...about, reason: body.reason }),
      });
      if (outcome === null) throw new ServiceError('signer_not_found', { context: { signer_key } });
      if (!outcome.ok || !expected.ok || live.address === null) {
        throw new ServiceError(
          outcome.ok ? 'signer_runtime_identity_unavailable' : outcome.reason,
          {
            context: {
              signer_key,
              expected_signer_address: outcome.stored,
              runtime_address: live.address,
            },
          },
        );
      }
      return {
        status: 200,
        body: {
          outcome: outcome.outcome,
          signer_key,
          expected_signer_address: expected.address,
          previous_expected_address: outcome.stored,
          runtime_address: live.address,
          audit_event_id: outcome.audit_event_id,
        },
      };
    });
  },
});
