/** What an address of a database may say, and the error where it says too little. */
import { readDatabaseAddress } from '../../domain/database-address.ts';

const read = (rest: string) => readDatabaseAddress(`postgresql://u:p%40s@${rest}`);

test.each([
  ['db.internal/x?sslmode=verify-full', 'verified', null],
  ['db.internal/x?sslmode=no-verify', 'unverified', /may answer in its place/],
  ['db.internal/x?sslmode=disable', 'off', /not encrypted/],
  ['127.0.0.1:5433/x', 'off', null],
  ['localhost/x', 'off', null],
  ['[::1]:5433/x', 'off', null],
  ['/x', 'off', null],
  ['/x?host=/var/run/postgresql', 'off', null],
  ['%2Fvar%2Frun/x', 'off', null],
])('%s is taken as %s', (rest, mode, warning) => {
  const address = read(rest);
  if ('faults' in address) throw new Error(address.faults.join());
  expect(address.tls.mode).toBe(mode);
  if (warning === null) expect(address.warning).toBeNull();
  else expect(address.warning).toMatch(warning);
});

test.each([
  ['db.internal/x', /on another machine, and nothing would be encrypted: say sslmode=verify-full/],
  ['localhost,db.internal/x', /on another machine/],
  ['/x?host=db.internal', /on another machine/],
  ['db.internal/x?sslmode=require', /sslmode=require does not check who answers everywhere/],
  ['db.internal/x?sslmode=prefer', /sslmode=prefer/],
  ['localhost/x?sslmode=verify-ca', /sslmode=verify-ca/],
  ['localhost/x?sslmode=s3cret', /^sslmode=… does not/],
  ['db.internal/x?ssl=true', /ssl and uselibpqcompat are not used/],
  ['localhost/x?sslrootcert=/ca', /have no use without TLS/],
  ['localhost/x?sslmode=disable&sslrootcert=/ca', /have no use without TLS/],
  ['localhost/x?sslmode=verify-full&sslcert=/c', /takes both sslcert and sslkey/],
  ['localhost/x?target_session_attrs=standby', /target_session_attrs must be/],
  ['a b:xx/x', /cannot be read/],
])('%s is refused', (rest, reason) => {
  const address = read(rest);
  expect('faults' in address && address.faults.join()).toMatch(reason);
});

test('several servers are several addresses, each without what is not the driver’s to read', () => {
  const query =
    'sslmode=verify-full&sslrootcert=/ca&application_name=a%20b&target_session_attrs=primary';
  expect(read(`one:5432,two:5433/x?${query}`)).toEqual({
    servers: [
      'postgresql://u:p%40s@one:5432/x?application_name=a%20b',
      'postgresql://u:p%40s@two:5433/x?application_name=a%20b',
    ],
    tls: { mode: 'verified', ca: '/ca', cert: null, key: null },
    readOnlyWillDo: false,
    warning: null,
    options: null,
  });
  expect(read('db/x?sslmode=verify-full&sslrootcert=system')).toMatchObject({ tls: { ca: null } });
});
