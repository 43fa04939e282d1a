/**
 * The rendered API reference, served whole from this machine: no other host is asked for anything.
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Express } from 'express';

/**
 * Scripts and requests only to this origin; the page's own styles are inline, its icons data
 * addresses.
 */
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

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Fund movement orchestrator: API reference</title>
    <link rel="icon" type="image/png" href="favicon-32x32.png">
    <link rel="stylesheet" href="swagger-ui.css">
    <style>.files { font: 16px sans-serif; max-width: 1460px; margin: 20px auto 0; padding: 0 20px; }</style>
  </head>
  <body>
    <p class="files">
      For a client: <a href="../openapi.json">openapi.json</a>, <a href="signing.md">how requests are signed</a>,
      <a href="fund_api.py">one that signs, in Python's standard library</a>
    </p>
    <div id="reference"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="reference.js"></script>
  </body>
</html>
`;

// Requests are signed by clients, so the page only shows; it sends nothing but the read of the
// document.
const SCRIPT = `window.addEventListener('load', () => {
  SwaggerUIBundle({
    url: '../openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    validatorUrl: null,
    supportedSubmitMethods: [],
    defaultModelsExpandDepth: 0,
  });
});
`;

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;

const CLIENTS = fileURLToPath(new URL('../../docs/clients', import.meta.url));

/** Adds `/docs/`, what its page loads, and what a client is written from. */
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
  // As text, so that a browser shows them in place of saving them.
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
