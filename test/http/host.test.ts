/**
 * A page under a foreign name that points here reads nothing: what needs no signature is answered
 * under our own names.
 */
import { get as httpGet } from 'node:http';
import { ROWS } from '../support/dashboard.ts';
import { shared } from '../support/http.ts';

/** The status of a GET that names `host`, and whether it says more than that it is refused. */
function ask(
  url: string,
  host: string,
): Promise<{ readonly status: number; readonly error: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = httpGet(url, { headers: { host } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const { detail } = (
          response.headers['content-type']?.includes('json') === true ? JSON.parse(text) : {}
        ) as { detail?: unknown };
        resolve({
          status: response.statusCode ?? 0,
          error: (detail as { error?: unknown } | undefined)?.error,
        });
      });
    });
    sent.on('error', reject);
  });
}

const UNSIGNED = [
  shared.apiUrl + ROWS,
  ...['/metrics', '/readyz', '/openapi.json', '/docs/'].map((path) => shared.opsUrl + path),
];
const portOf = (url: string): string => new URL(url).port;

describe.each(UNSIGNED)('%s', (url) => {
  test.each([
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example.',
    '10.1.2.3',
    '[2001:db8::1]',
    'a b',
  ])('is not read as %j', async (host) => {
    expect(await ask(url, host)).toEqual({ status: 403, error: 'forbidden' });
  });

  test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '[::1]'])(
    'is read as %s, with its port and without',
    async (host) => {
      for (const named of [host, `${host}:${portOf(url)}`])
        expect(await ask(url, named)).toEqual({ status: 200, error: undefined });
    },
  );
});

test('what needs no secret, or a signature, accepts any host name', async () => {
  for (const listener of [shared.apiUrl, shared.opsUrl])
    expect(await ask(`${listener}/healthz`, 'balancer.example')).toEqual({
      status: 200,
      error: undefined,
    });
  expect(await ask(`${shared.apiUrl}/v3/movements`, 'api.example')).toEqual({
    status: 401,
    error: 'unauthenticated',
  });
});
