/** What an approver reads of a node beside amount and payee. */
import { sendTerms } from '../../../domain/plan/send-terms.ts';

test('a burn has the terms that it is sent with, said or not', () => {
  expect(sendTerms({ action_type: 'cctp_burn', config: {} })).toMatchObject({
    max_fee: '0',
    finality: 'standard',
    destination_caller: null,
  });
  const config = { max_fee: '0.5', finality: 'fast', destination_caller: '0xab' };
  expect(sendTerms({ action_type: 'cctp_burn', config })).toMatchObject(config);
});

test('a withdrawal has venue, network and tag, leaves its spot account, and has nothing of a burn', () => {
  const config = { venue: 'main', network: 'XRP', tag: '17' };
  // The exchange pays on the network, whatever chain the config names.
  const shared = { chain_id: 1, source_chain_id: 1 };
  expect(
    sendTerms({ action_type: 'cex_withdrawal', config: { ...config, ...shared } }),
  ).toMatchObject({
    ...config,
    chain_id: null,
    account_type: 'SPOT',
    destination_venue: null,
    destination_account_type: null,
    max_fee: null,
    finality: null,
    destination_caller: null,
  });
});

test("a withdrawal shows its own limit of the fee, and a burn the attester's", () => {
  const config = { max_fee: '9', fee_limit: '0.5' };
  expect(sendTerms({ action_type: 'cex_withdrawal', config }).max_fee).toBe('0.5');
  expect(sendTerms({ action_type: 'cctp_burn', config }).max_fee).toBe('9');
});

test.each([
  ['the intent', { amount_ref: 'intent' }, null],
  ['its amount, whatever it refers to', { amount: '1', amount_ref: 'nodes.a.output.b' }, null],
  ['an output', { amount_ref: 'nodes.a.output.b' }, 'nodes.a.output.b'],
])('a node that moves what %s says', (_, config, amount_ref) => {
  expect(sendTerms({ action_type: 'noop', config })).toMatchObject({ amount_ref });
});
