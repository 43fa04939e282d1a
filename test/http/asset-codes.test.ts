/**
 * Wherever a caller names an asset: a code that looks like another one, or like nothing, is refused
 * and named.
 */
import { randomUUID } from 'node:crypto';
import { expectInvalid, get, patch, post } from '../support/http.ts';

const CODES = {
  'a space before': ' USDC',
  'a space after': 'USDC ',
  'a space within': 'US DC',
  'nothing but a space': ' ',
  'a no-break space': 'USDC\u00a0',
  'a tab': 'USDC\t',
  'a zero-width space': 'USD\u200bC',
  'a zero-width joiner': 'USDC\u200d',
  'a byte order mark': '\ufeffUSDC',
  'a soft hyphen': 'US\u00adDC',
  'full-width letters': 'ＵＳＤＣ',
  'a Cyrillic letter': 'USD\u0421',
  nothing: '',
} as const;

describe.each(Object.entries(CODES))('%s', (_name, asset) => {
  test.each(['balances', 'capital-transfers'])('is no filter of %s', async (path) => {
    expectInvalid(await get(`/${path}?asset=${encodeURIComponent(asset)}`), 'asset');
  });

  test('is no asset of a movement', async () => {
    const body = {
      template_key: 'starter/withdraw-to-treasury',
      template_version: 1,
      intent: { asset, amount: '1' },
    };
    expectInvalid(await post('/movements', body), 'intent.asset');
  });

  test('is none of a capital transfer', async () => {
    const venues = { source_venue: 'paper-main', destination_venue: 'paper-sub-a' };
    expectInvalid(
      await post('/capital-transfers', {
        ...venues,
        asset,
        amount: '1',
        reason: 'x',
        idempotency_key: randomUUID(),
      }),
      'asset',
    );
  });

  test('is none of a recommendation', async () => {
    const body = {
      asset,
      source_venue: null,
      destination_venue: null,
      amount: '1',
      priority: 'cost',
    };
    expectInvalid(await post('/routes/recommend', body), 'asset');
  });

  test('is none of a policy, nor of a cap', async () => {
    const policy = {
      client_id: randomUUID(),
      strategy_id: 'codes',
      allowed_assets: ['USDT', asset],
    };
    expectInvalid(await post('/auto-approve-policies', policy), 'allowed_assets[1]');
    expectInvalid(
      await patch(`/auto-approve-policies/${randomUUID()}`, { allowed_assets: [asset] }),
      'allowed_assets[0]',
    );
    expectInvalid(
      await patch('/plan-templates/starter/withdraw-to-treasury', { daily_cap_asset: asset }),
      'daily_cap_asset',
    );
  });
});
