/** Every answer of the API has the headers that helmet sets, though helmet does not run for it. */
import express from 'express';
import helmet from 'helmet';
import { serve, serveApi, type Served } from '../support.ts';

const served: Served[] = [];
afterAll(async () => {
  await Promise.all(served.map((each) => each.close()));
});

async function headersAt(api: Promise<Served>, path: string): Promise<Record<string, string>> {
  const own = await api;
  served.push(own);
  return Object.fromEntries((await fetch(`${own.url}${path}`)).headers);
}

const PATHS = ['/healthz', '/v3/none', '/elsewhere', '/v3/%2f'];

test.each(PATHS)('as helmet does at %s', async (path) => {
  const app = express()
    .use(helmet())
    .get('/bare', (_request, response) => void response.end());
  const expected = Object.entries(await headersAt(serve(app), '/bare')).filter(
    ([name]) => !['connection', 'content-length', 'date', 'keep-alive'].includes(name),
  );
  expect(expected.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      'content-security-policy',
      'strict-transport-security',
      'x-content-type-options',
      'x-frame-options',
    ]),
  );
  const got = await headersAt(serveApi([]), path);
  expect(got).toMatchObject(Object.fromEntries(expected));
  expect(got).not.toHaveProperty('x-powered-by');
});
