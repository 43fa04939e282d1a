/** What a close of the API does with requests under way. */
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../../../api/http/server.ts';

test('what has not ended in its time is cut, and named without its query', async () => {
  const server = await listen({
    app: (request, response) => {
      if (request.url === '/soon') setTimeout(() => response.end('answered'), 100);
    },
    host: '127.0.0.1',
    port: 0,
    graceMs: 400,
  });
  const ask = (path: string): Promise<string> =>
    new Promise((resolve) => {
      httpRequest({ port: server.port, host: '127.0.0.1', path }, (answer) => {
        answer.resume().once('end', () => resolve(String(answer.headers.connection)));
      })
        .once('error', () => resolve('cut'))
        .end();
    });
  const [soon, never] = [ask('/soon'), ask('/never?secret=1')];
  await sleep(50);
  expect(await server.close()).toEqual(['request GET /never']);
  expect(await Promise.all([soon, never])).toEqual(['close', 'cut']);
});
