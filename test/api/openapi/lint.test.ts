/** The document by the recommended rules of Redocly, of which a warning is a fault here too. */
import { DESCRIBED } from '../../../api/dashboard/routes.ts';
import { buildOpenApi } from '../../../api/openapi/document.ts';
import { commercial } from '../../../api/commercial.ts';
import { withExtensions } from '../../../api/extension.ts';
import { routes as base } from '../../../venues/routes.ts';
import { faultsOf } from '../../support/redocly.ts';

const routes = withExtensions(base, [commercial({ autoApproveDryRun: false })]);

const documentOf = (authEnabled: boolean) =>
  buildOpenApi(routes, {
    apiPrefix: '/v3',
    serverUrl: 'http://127.0.0.1:8100',
    authEnabled,
    maxSkewSeconds: 300,
    dashboard: DESCRIBED,
  });

test.each([
  ['signed', true],
  ['not signed', false],
])('has no fault where requests are %s', async (_what, authEnabled) => {
  expect(await faultsOf(documentOf(authEnabled))).toEqual([]);
});

test('a fault is reported, and so is a warning', async () => {
  const { info: _info, tags, ...rest } = documentOf(true);
  const [first, ...others] = tags as { name: string }[];
  const faults = await faultsOf({ ...rest, tags: [{ name: first?.name }, ...others] });
  expect(faults).toEqual([
    expect.stringMatching(/^error struct .*info/),
    expect.stringMatching(/^warn tag-description /),
  ]);
});

test('an example with a field that its schema does not have is reported', async () => {
  const document = documentOf(true) as {
    paths: Record<string, Record<string, { responses: Record<string, object> }>>;
  };
  const { responses } = document.paths['/v3/whoami']?.['get'] ?? { responses: {} };
  const { content, ...rest } = responses[200] as { content: Record<string, object> };
  const media = { ...content['application/json'], example: { role: 'admin', other: 1 } };
  responses[200] = { ...rest, content: { 'application/json': media } };
  const faults = await faultsOf(document);
  expect(faults.join('\n')).toMatch(/no-invalid-media-type-examples.*\bother\b/);
  expect(faults.join('\n')).toMatch(/no-invalid-media-type-examples.*\bclient_id\b/);
});

test('describes each route of the dashboard, which needs no key of the API', () => {
  const { paths } = documentOf(true) as {
    paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
  };
  const described = Object.entries(paths).filter(([path]) => path.startsWith('/dashboard/'));
  const needs = described.flatMap(([path, item]) =>
    Object.entries(item).map(([method, { security }]) => [
      `${method.toUpperCase()} ${path}`,
      security?.map((way) => Object.keys(way).join(' ')),
    ]),
  );
  const signed = ['Operator', 'Timestamp', 'Nonce', 'Signature']
    .map((name) => `Dashboard-${name}`)
    .join(' ');
  const session = 'Dashboard-Session';
  const list = '/dashboard/allowed-addresses';
  expect(Object.fromEntries(needs)).toEqual({
    [`GET ${list}`]: [signed, session, ''],
    [`POST ${list}`]: [signed],
    [`POST ${list}/{id}/revoke`]: [signed],
    [`POST ${list}/{id}/reactivate`]: [signed],
    'GET /dashboard/nonce': [],
    'GET /dashboard/stream': [signed, session],
    'POST /dashboard/enrol': [signed],
    'POST /dashboard/session': [signed],
    'DELETE /dashboard/session': [session],
  });
});
