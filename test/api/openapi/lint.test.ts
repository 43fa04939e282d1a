/** The document by the recommended rules of Redocly, of which a warning is a fault here too. */
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
  });

test.each([
  ['signed', true],
  ['not signed', false],
])('has no fault where requests are %s', async (_what, authEnabled) => {
  expect(await faultsOf(documentOf(authEnabled))).toEqual([]);
});

test('a fault would be told, and so would a warning', async () => {
  const { info: _info, tags, ...rest } = documentOf(true);
  const [first, ...others] = tags as { name: string }[];
  const faults = await faultsOf({ ...rest, tags: [{ name: first?.name }, ...others] });
  expect(faults).toEqual([
    expect.stringMatching(/^error struct .*info/),
    expect.stringMatching(/^warn tag-description /),
  ]);
});

test('an example with a field that its schema does not have would be told', async () => {
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
