/** The movement of a bridge attempt is made of what was validated, once. */
import { movementOf } from '../../../api/agents/bridge-attempt.ts';
import { attemptBody } from '../../../api/agents/schema.ts';
import { normalForm } from '../../../api/movements/request.ts';
import { callbackUrl, createBody } from '../../../api/movements/schema.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { ProposalRecord } from '../../../store/proposals.ts';

const row = (callback_url: string): ProposalRecord => ({
  proposal_id: 'p',
  authority_key: 'a',
  status: 'auto_promoted',
  promotion_mode: 'auto',
  template_key: 'agent/a/way',
  template_version: 3,
  reasons: [],
  problem: null,
  request: requestOf(callback_url),
  bridge_attempt: true,
  movement_id: null,
  expires_at: '',
  created_at: '',
});

function requestOf(address: string): JsonObject {
  const {
    idempotency_key: _key,
    callback_url = null,
    ...fields
  } = attemptBody.parse({
    asset: 'usdc',
    protocol_family: 'cctp',
    proposal_kind: 'static',
    source_chain: 'near',
    destination_chain: 'far',
    destination_chain_id: 22,
    destination_address: '0x1',
    signer_profile: 't',
    requested_notional: '40.500',
    ttl_seconds: 60,
    callback_url: address,
  });
  return { ...fields, callback_url, authority_key: 'a', operation: 'bridge_attempt' };
}

test('it is the create request of the proposal’s own amount, asset and version', () => {
  const made = movementOf(row('https://agent.example/callback'));
  expect(normalForm(made)).toEqual(
    normalForm(
      createBody.parse({
        template_key: 'agent/a/way',
        template_version: 3,
        intent: { asset: 'USDC', amount: '40.5' },
        callback_url: 'https://agent.example/callback',
      }),
    ),
  );
});

test('a callback address that grows in its normal form is no hindrance', () => {
  const grows = `https://agent.example/${'ü'.repeat(600)}`;
  const { callback_url: url } = movementOf(row(grows));
  expect(url).toBe(new URL(grows).href);
  // It could not be sent so.
  expect(callbackUrl.safeParse(url).success).toBe(false);
});

test('what has no version makes none', () => {
  expect(() => movementOf({ ...row('https://a.example/'), template_version: null })).toThrow(
    /without a version/,
  );
});
