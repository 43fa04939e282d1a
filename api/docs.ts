/** The rendered API reference, served whole from this machine: no other host is asked for anything. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Express } from 'express';

/** Scripts and requests only to this origin; the page's own styles are inline, its icons data addresses. */
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
  </head>
  <body>
    <div id="reference"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="reference.js"></script>
  </body>
</html>
`;

// Requests are signed by clients, so the page only shows; it sends nothing but the read of the document.
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

/** Adds `/docs/` and what its page loads. */
export function serveDocs(app: Express): void {
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
  for (const asset of ASSETS) {
    app.get(`/docs/${asset}`, (_request, response) => {
      response.sendFile(asset, { root, cacheControl: false });
    });
  }
}
