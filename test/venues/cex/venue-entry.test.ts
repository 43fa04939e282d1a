/** Which account a venue key means, as it is recorded with what is sent. */
import type { CexAccount } from '../../../venues/cex/accounts.ts';
import type { CcxtVenue } from '../../../venues/cex/config.ts';
import { accountEntry, memberEntry, requireSameAccount } from '../../../venues/cex/venue-entry.ts';

const venue: CcxtVenue = {
  venue_key: 'desk',
  provider: 'ccxt',
  exchange: 'okx',
  account_role: 'sub',
  account: 'desk1',
  credentials_file: 'secrets/desk.json',
  base_url: 'https://proxy.example.com',
  sandbox: false,
  account_types: ['SPOT'],
  exclusive: false,
  withdrawal_whitelist: true,
  timeout_seconds: 10,
};

test('an entry names its account, and nothing of how it is reached', () => {
  expect(accountEntry(venue)).toBe('desk: okx sub-account desk1');
  const { base_url: _url, ...rest } = venue;
  const elsewhere = {
    ...rest,
    credentials_file: 'other.json',
    timeout_seconds: 5,
    exclusive: true,
  };
  expect(accountEntry(elsewhere)).toBe(accountEntry(venue));
});

test.each<[string, Partial<CcxtVenue>]>([
  ['account', { account: 'desk2' }],
  ['exchange', { exchange: 'bybit' }],
  ['sandbox', { sandbox: true }],
  ['role', { account_role: 'master' }],
])('another %s is another account', (_, changes) => {
  expect(accountEntry({ ...venue, ...changes })).not.toBe(accountEntry(venue));
});

test('the case of an e-mail address is no other account, and that of a name is', () => {
  const named = (account: string) => accountEntry({ ...venue, account });
  expect(named('Desk-A@Example.com')).toBe(named('desk-a@example.com'));
  expect(named('Desk1')).not.toBe(named('desk1'));
  const masterOf = (account: string) =>
    memberEntry({ venue, master: { ...venue, account_role: 'master', account } });
  expect(masterOf('Desk-A@Example.com')).toBe(masterOf('desk-a@example.com'));
});

test("a sub-account is its master's, whose key moves funds", () => {
  const master: CcxtVenue = { ...venue, account_role: 'master', account: '100' };
  expect(memberEntry({ venue, master })).toBe('desk: okx sub-account desk1 of 100');
  expect(memberEntry({ venue, master: null })).toBe(accountEntry(venue));
  expect(memberEntry({ venue: master, master })).toBe(accountEntry(master));
});

test('a look for a withdrawal from a sub-account compares its master, too', () => {
  const master: CcxtVenue = { ...venue, account_role: 'master', account: '100' };
  const looks = (account: string) => () =>
    requireSameAccount(
      { get: () => ({ venue, master: { ...master, account } }) as CexAccount },
      {
        config: { venue: 'desk', network: 'ETH', destination_address: '0x1' },
        prior: { prepared_action: { venue_entries: memberEntry({ venue, master }) } },
      },
    );
  expect(looks('100')).not.toThrow();
  expect(looks('200')).toThrow(/desk1 of 200.*desk1 of 100/);
});
