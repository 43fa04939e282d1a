/** Which clocks a send is made by, and when they are too far apart for it. */
import type { SignRequest } from '../../../domain/executor.ts';
import type { ChainEntry } from '../../../domain/plan/tokens.ts';
import { anyApart, clockProblem, clocksOfNode, counts } from '../../../domain/send/clocks.ts';

const CHAINS = [
  { chain_id: 1, venue_key: 'ethereum' },
  { chain_id: 8_453, venue_key: 'base' },
] as unknown as readonly ChainEntry[];
const signs = (kind: string, payload: object) => ({ kind, payload }) as unknown as SignRequest;
const clocks = (action_type: string, config: object, request: SignRequest | null = null) =>
  clocksOfNode({ action_type, config: config as never }, request, CHAINS);

describe('a node is sent by the clock', () => {
  test('of the chain that its transaction or authorization is signed for', () => {
    const transaction = signs('evm_transaction', { chain_id: 8_453 });
    expect(clocks('cctp_mint', { burn_from: 'burn' }, transaction)).toEqual(['base']);
    const typed = signs('evm_typed_data', { domain: { chainId: 1 } });
    expect(clocks('team_pays', {}, typed)).toEqual(['ethereum']);
    expect(clocks('team_pays', {}, signs('evm_typed_data', {}))).toEqual([]);
    expect(clocks('evm_native_transfer', {}, signs('evm_transaction', { chain_id: 5 }))).toEqual(
      [],
    );
  });

  test('of the account of an exchange, and of the perps venue', () => {
    expect(clocks('cex_withdrawal', { venue: 'binance-main' })).toEqual(['binance-main']);
    expect(clocks('perp_withdraw', { venue: 'perps' })).toEqual(['perp', 'perps']);
    expect(clocks('noop', {})).toEqual([]);
  });
});

test('a block behind us says nothing, and one ahead of us does', () => {
  expect([counts('ahead', 1), counts('ahead', -1)]).toEqual([true, false]);
  expect([counts('either', 1), counts('either', -1)]).toEqual([true, true]);
  expect([counts('never', 1), counts('never', -1)]).toEqual([false, false]);
});

test.each([
  ['database', [], true],
  ['base', ['base'], true],
  ['base', ['ethereum'], false],
  ['base', [], false],
] as const)('the clock of %s stops what is sent by %j: %s', (clock, by, stops) => {
  for (const ms of [60_001, -60_001]) {
    const differences = new Map([[clock as string, ms]]);
    expect(anyApart(differences)).toBe(true);
    const why = clockProblem(differences, by);
    expect(why === null).toBe(!stops);
    if (stops) expect(why).toContain(`the clock of ${clock} is 60 seconds`);
  }
  for (const ms of [60_000, -60_000]) {
    const differences = new Map([[clock as string, ms]]);
    expect(anyApart(differences)).toBe(false);
    expect(clockProblem(differences, by)).toBeNull();
  }
});
