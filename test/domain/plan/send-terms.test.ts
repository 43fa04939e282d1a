/** What an approver reads of a node beside amount and payee. */
import { sendTerms } from '../../../domain/plan/send-terms.ts';

test('a burn has the terms that it is sent with, said or not', () => {
  expect(sendTerms({ action_type: 'cctp_burn', config: {} })).toMatchObject({
    ...{ max_fee: '0', finality: 'standard', destination_caller: null },
  });
  const config = { max_fee: '0.5', finality: 'fast', destination_caller: '0xab' };
  expect(sendTerms({ action_type: 'cctp_burn', config })).toMatchObject(config);
});

test('a withdrawal has venue, network and tag, and nothing of a burn', () => {
  const config = { venue: 'main', network: 'XRP', tag: '17' };
  expect(sendTerms({ action_type: 'cex_withdrawal', config })).toEqual({
    ...config,
    ...{ max_fee: null, finality: null, destination_caller: null },
  });
});
