/**
 * The rendered API reference, served completely by this process: the page loads nothing from
 * another host.
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Express } from 'express';

/** Scripts and requests only for this origin; the page's styles are inline, its icons data URLs. */
export const DOCS_CONTENT_POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

const STYLE = `
      .files { font: 16px sans-serif; max-width: 1460px; margin: 20px auto 0; padding: 0 20px; }
      .common { color: #3b4151; font-family: sans-serif; font-size: 14px; padding: 0 20px 20px; }
      .common summary { cursor: pointer; }
      .common dt { font-weight: bold; margin-top: 10px; }
      .common dd { margin: 0 0 0 20px; }
    `;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Fund movement orchestrator: API reference</title>
    <link rel="icon" type="image/png" href="favicon-32x32.png">
    <link rel="stylesheet" href="swagger-ui.css">
    <style>${STYLE}</style>
  </head>
  <body>
    <p class="files">
      This page only shows. Requests are signed: <a href="fund_api.py">fund_api.py</a> signs and sends them
      with Python's standard library, <a href="signing.md">signing.md</a> says how,
      <a href="../openapi.json">openapi.json</a> is for making a client.
    </p>
    <div id="reference"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="reference.js"></script>
  </body>
</html>
`;

// Clients sign requests, so this page only displays: it only fetches the document and never asks
// for a key. An operation's common errors are folded, below its own responses.
const SCRIPT = `const nothing = () => null;

const isCommon = (response) =>
  response.get('x-common') === true ||
  String(response.get('$ref')).startsWith('#/components/responses/');

const commonErrors = ({ React: { createElement: h }, getComponent }, responses) => {
  const Markdown = getComponent('Markdown', true);
  const rows = responses.entrySeq().toArray().flatMap(([status, response]) => [
    h('dt', { key: status }, status),
    h('dd', { key: status + ' in words' }, h(Markdown, { source: response.get('description', '') })),
  ]);
  const statuses = responses.keySeq().join(', ');
  return h(
    'details',
    { className: 'common', key: 'common' },
    h('summary', null, 'Errors of every operation: ' + statuses),
    h('dl', null, rows),
  );
};

const OwnAnswersFirst = () => ({
  wrapComponents: {
    responses: (Responses, system) => (props) => {
      const { responses } = props;
      const common = responses.filter(isCommon);
      const own = system.React.createElement(Responses, {
        ...props,
        key: 'own',
        responses: responses.filterNot(isCommon),
      });
      return common.size === 0 ? own : [own, commonErrors(system, common)];
    },
  },
});

const NoKeys = () => ({ components: { authorizeBtn: nothing, authorizeOperationBtn: nothing } });

window.addEventListener('load', () => {
  SwaggerUIBundle({
    url: '../openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    validatorUrl: null,
    supportedSubmitMethods: [],
    defaultModelsExpandDepth: 0,
    plugins: [OwnAnswersFirst, NoKeys],
  });
});
`;

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;

const CLIENTS = fileURLToPath(new URL('../../docs/clients', import.meta.url));

/** Adds `/docs/`, the files that its page loads, and the files for writing a client. */
export function serveDocs(app: Express, signing: string): void {
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  app.get('/docs', (_request, response) => {
    response.redirect(302, '/docs/');
  });
  app.get('/docs/', (_request, response) => {
    response.type('html').send(PAGE);
  });
  app.get('/docs/reference.js', (_request, response) => {
    response.type('text/javascript').send(SCRIPT);
  });
  // Served as plain text, so that a browser shows the file instead of saving it.
  app.get('/docs/signing.md', (_request, response) => {
    response.type('text/plain').send(signing);
  });
  app.get('/docs/fund_api.py', (_request, response) => {
    response.type('text/plain').sendFile('fund_api.py', { root: CLIENTS, cacheControl: false });
  });
  for (const asset of ASSETS) {
    app.get(`/docs/${asset}`, (_request, response) => {
      response.sendFile(asset, { root, cacheControl: false });
    });
  }
}
