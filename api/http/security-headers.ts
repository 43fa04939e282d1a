/** The headers that keep browsers from misusing a response. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * Returns name and value of each header that helmet sets by default. They are the same for every
 * request, so they are computed once: helmet builds its policy again each time.
 */
export function securityHeaders(): readonly (readonly [name: string, value: string])[] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet()(request, response, (error) => {
    if (error !== undefined) throw new Error('helmet refused its own settings', { cause: error });
  });
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]);
}
