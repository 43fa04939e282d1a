import { buildOpenApi, documentedPath } from '../../../api/openapi/document.ts';
import { createOps, readiness } from '../../../api/operations/listener.ts';
import { routes } from '../../../venues/routes.ts';
import { listen } from '../../../api/http/server.ts';
import { send, serve } from '../support.ts';
import { started } from '../../support/started.ts';

const openapi = buildOpenApi(routes, {
  apiPrefix: '/v3',
  serverUrl: 'http://127.0.0.1:8100',
  authEnabled: true,
  maxSkewSeconds: 120,
});
let ready = true;
const served = started(() =>
  serve(
    createOps({
      openapi,
      signing: 'how to sign',
      checks: {
        postgres: {
          required: true,
          check: () =>
            Promise.resolve(ready ? { ok: true } : { ok: false, detail: 'out of reach' }),
        },
        temporal: { required: false, check: () => Promise.reject(new Error('secret address')) },
      },
    }),
  ),
);

describe('the document', () => {
  const paths = openapi['paths'] as Record<
    string,
    Record<string, { operationId: string; responses: Record<string, unknown> }>
  >;

  it('has every route with its success and its errors', () => {
    for (const route of routes) {
      const operation = paths[`/v3${documentedPath(route, routes)}`]?.[route.method.toLowerCase()];
      expect(operation?.operationId).toBe(route.id);
      expect(Object.keys(operation?.responses ?? {})).toEqual(
        expect.arrayContaining([
          String(route.status),
          '400',
          '401',
          '403',
          '422',
          '429',
          '500',
          '503',
        ]),
      );
    }
  });

  it('has no two paths that differ only in the names of their parameters', () => {
    const forms = Object.keys(paths).map((path) => path.replace(/\{[^}]+\}/g, '{}'));
    expect(forms).toEqual([...new Set(forms)]);
    for (const [path, item] of Object.entries(paths)) {
      const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      for (const { parameters = [] } of Object.values(item) as {
        parameters?: { in?: string; name?: string }[];
      }[])
        expect([
          path,
          ...parameters.filter((each) => each.in === 'path').map(({ name }) => name),
        ]).toEqual([path, ...names]);
    }
  });

  it('has an example of every body, and each fits its schema', () => {
    const examples = routes
      .filter(
        ({ body }) => body.safeParse(undefined).success === false || body.meta()?.id !== undefined,
      )
      .map(({ id, body }) => [
        id,
        ((body.meta()?.['examples'] ?? []) as object[]).map((each) => body.safeParse(each).success),
      ]);
    expect(examples.length).toBeGreaterThan(5);
    expect(examples).toEqual(examples.map(([id]) => [id, [true]]));
  });

  it('has an example of every answer, and each fits its schema', () => {
    for (const route of routes) {
      const responses =
        paths[`/v3${documentedPath(route, routes)}`]?.[route.method.toLowerCase()]?.responses ?? {};
      const exampleOf = (status: number) =>
        (responses[String(status)] as { content: Record<string, { example: unknown }> }).content[
          'application/json'
        ]?.example;
      expect([route.id, exampleOf(route.status) !== undefined]).toEqual([route.id, true]);
      expect([route.id, route.response.safeParse(exampleOf(route.status)).error]).toEqual([
        route.id,
        undefined,
      ]);
      if (route.preview !== undefined)
        expect([route.id, route.preview.safeParse(exampleOf(200)).error]).toEqual([
          route.id,
          undefined,
        ]);
    }
  });

  it('says what every operation may answer once', () => {
    const { responses } = openapi['components'] as { responses: Record<string, object> };
    const { description } = openapi['info'] as { description: string };
    const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
      expect(operation.responses['400']).toEqual(reference('InvalidPath'));
      expect(operation.responses['500']).toEqual(reference('InternalError'));
    }
    expect(paths['/v3/movements']?.['get']?.responses['401']).toEqual(reference('Unauthenticated'));
    for (const response of Object.values(responses) as { description: string }[])
      for (const [, code] of response.description.matchAll(/^`(\w+)` \(/gm))
        expect(description).toContain(`| \`${code ?? ''}\` |`);
  });

  it('tells the errors of an operation before those of all', () => {
    const { description, content } = paths['/v3/movements/{movement_id}']?.['get']?.responses[
      '404'
    ] as { description: string; content: Record<string, { examples: object }> };
    expect(description).toMatch(
      /^`movement_not_found` \(retry: never\): No such movement; check movement_id\.\n\nAs everywhere: `route_not_found`\.$/,
    );
    expect(Object.keys(content['application/json']?.examples ?? {})).toEqual([
      'movement_not_found',
      'route_not_found',
    ]);
  });

  it('tells the roles of every operation in words', () => {
    for (const route of routes) {
      const operation = paths[`/v3${documentedPath(route, routes)}`]?.[
        route.method.toLowerCase()
      ] as unknown as { description: string };
      expect(operation.description).toContain(`Roles: ${route.roles.join(', ')}.`);
    }
  });

  it('gives 429 its own body, the time to wait and an example', () => {
    const { responses } = openapi['components'] as {
      responses: Record<string, { content: object; headers: object }>;
    };
    const { content, headers } = responses['TooManyRequests'] ?? {};
    expect(content).toEqual({
      'application/json': {
        schema: { $ref: '#/components/schemas/RateLimited' },
        examples: { rate_limited: { $ref: '#/components/examples/rate_limited' } },
      },
    });
    expect(Object.keys(headers ?? {})).toEqual(['X-Request-Id', 'Retry-After']);
  });

  it('tells how to sign, within the service’s own bounds', () => {
    expect((openapi['info'] as { description: string }).description).toMatch(
      /## Signing requests[^]*at most 120 from/,
    );
  });

  it('refers only to what it has', () => {
    const text = JSON.stringify(openapi);
    const components = openapi['components'] as Record<string, Record<string, unknown>>;
    for (const [, group, name] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const found = components[group ?? '']?.[name ?? ''];
      expect([name, found === undefined]).toEqual([name, false]);
    }
    expect(text).not.toContain('#/$defs/');
  });

  it('describes every response and request', () => {
    const { responses: common } = openapi['components'] as { responses: Record<string, unknown> };
    for (const item of Object.values(paths)) {
      for (const operation of Object.values(item)) {
        for (const [status, declared] of Object.entries(operation.responses)) {
          const { $ref = '' } = declared as { $ref?: string };
          const response = common[$ref.replace(/^.*\//, '')] ?? declared;
          const { content } = response as { content: { 'application/json': { schema: object } } };
          expect([
            operation.operationId,
            status,
            Object.keys(content['application/json'].schema).length > 0,
          ]).toEqual([operation.operationId, status, true]);
        }
      }
    }
  });
});

describe('what a create answers', () => {
  type Operation = {
    parameters: { $ref?: string }[];
    responses: Record<string, { content: Record<string, { schema: object }> }>;
  };
  const paths = openapi['paths'] as Record<string, Record<string, Operation>>;

  it('names the preview and the repeat, and lists the header there alone', () => {
    const create = paths['/v3/movements']?.['post'];
    const [preview, repeat, ...more] = (
      create?.responses['200']?.content['application/json']?.schema as { oneOf: object[] }
    ).oneOf;
    expect(preview).toEqual({ $ref: '#/components/schemas/MovementPreview' });
    expect(repeat).toEqual(create?.responses['201']?.content['application/json']?.schema);
    expect(more).toEqual([]);
    const having = Object.entries(paths).flatMap(([path, item]) =>
      Object.values(item).flatMap((each) =>
        (each.parameters ?? []).some(({ $ref }) => $ref === '#/components/parameters/DryRun')
          ? [path]
          : [],
      ),
    );
    expect(having).toEqual(['/v3/movements']);
  });
});

describe('the listener', () => {
  it('is ready when every required part is', async () => {
    ready = true;
    const { status, body } = await send(`${served.url}/readyz`);
    expect([status, body]).toEqual([
      200,
      {
        status: 'ready',
        checks: {
          postgres: { ok: true, required: true },
          temporal: { ok: false, required: false, detail: 'out of reach' },
        },
      },
    ]);
    ready = false;
    expect((await send(`${served.url}/readyz`)).status).toBe(503);
  });

  it('does not wait long for a part', async () => {
    const status = await readiness({
      slow: { required: true, check: () => new Promise(() => undefined) },
    });
    expect(status['slow']).toEqual({ ok: false, required: true, detail: 'no answer in time' });
  });

  it('serves the document and its page from here alone', async () => {
    expect((await send(`${served.url}/openapi.json`)).body['openapi']).toBe('3.1.0');
    const redirect = await fetch(`${served.url}/docs`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, '/docs/']);
    const page = await (await fetch(`${served.url}/docs/`)).text();
    expect(page).not.toMatch(/https?:\/\//);
    for (const [, asset] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const response = await fetch(`${served.url}/docs/${asset ?? ''}`);
      expect([asset, response.status]).toEqual([asset, 200]);
      await response.arrayBuffer();
    }
    expect(await (await fetch(`${served.url}/docs/signing.md`)).text()).toBe('how to sign');
    expect(await (await fetch(`${served.url}/docs/fund_api.py`)).text()).toContain(
      'def signed_headers(',
    );
    const script = await (await fetch(`${served.url}/docs/reference.js`)).text();
    expect(script).toContain('validatorUrl: null');
  });

  it('counts requests', async () => {
    const text = await (await fetch(`${served.url}/metrics`)).text();
    expect(text).toContain('svc_http_requests_total');
  });

  it('has nothing else', async () => {
    for (const path of ['/', '/v3/movements', '/docs/index.html', '/docs/package.json', '/readyz/'])
      expect((await send(served.url + path)).status).toBe(404);
    expect((await send(`${served.url}/readyz`, { method: 'POST' })).status).toBe(405);
  });

  it('tells which setting names a port that is taken', async () => {
    const taken = listen({
      app: () => undefined,
      host: '127.0.0.1',
      port: served.port,
      setting: 'SVC_OPS_PORT',
    });
    await expect(taken).rejects.toThrow(/SVC_OPS_PORT/);
  });
});
