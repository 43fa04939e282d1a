// Writes down every signature that a test file sends, however it sends it; see sent-signatures.ts.
import { appendFileSync } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';

const file = process.env.TEST_SENT_SIGNATURES;
const note = (text) => {
  const [, signature] =
    /x-svc-(?:dashboard-)?signature['",:\s]+(?:v3=)?([0-9a-f]{64})/i.exec(text) ?? [];
  if (file !== undefined && signature !== undefined) appendFileSync(file, `${signature}\n`);
};
// What `fetch` and undici send, and what node:http sends.
subscribe('undici:client:sendHeaders', ({ headers }) => note(headers));
subscribe('http.client.request.start', ({ request }) => note(JSON.stringify(request.getHeaders())));
