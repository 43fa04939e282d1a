/** The HTTP part of a simulator: its application, its read-only views, and its errors. */
import express, { type ErrorRequestHandler, type Express } from 'express';

const LIMIT = '1mb';

/** An error that is returned with HTTP status `status`. */
export class HttpError extends Error {
  override readonly name: string = 'HttpError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Creates an application that parses JSON bodies. Bodies of the paths in `text` stay text, whatever
 * their content type; `strict: false` also accepts JSON that is neither object nor array.
 */
export function createApp({
  text = [],
  strict = true,
}: { readonly text?: string[]; readonly strict?: boolean } = {}): Express {
  const app = express();
  app.disable('x-powered-by');
  if (text.length > 0) app.use(text, express.text({ type: () => true, limit: LIMIT }));
  app.use(express.json({ limit: LIMIT, strict }));
  return app;
}

/** Adds a `GET` route for each path, which returns its function's result as JSON. */
export function addViews(app: Express, views: Readonly<Record<string, () => unknown>>): void {
  for (const [path, view] of Object.entries(views))
    app.get(path, (_request, response) => void response.json(view()));
}

/** How a simulator creates and serializes its errors. */
export interface ErrorForm<E extends HttpError> {
  /**
   * Creates the error for an unknown route (404), an unreadable body (any other 4xx), or a
   * temporary failure (503).
   */
  readonly refusal: (status: number) => E;
  readonly body: (error: E) => unknown;
}

/** Errors with the body `{code, error}`: the status and a text. */
export const PLAIN_ERRORS: ErrorForm<HttpError> = {
  refusal: (status) => new HttpError(status, PLAIN_TEXTS[status] ?? 'bad request'),
  body: ({ status, message }) => ({ code: status, error: message }),
};
const PLAIN_TEXTS: Readonly<Record<number, string>> = {
  404: 'there is no such route',
  503: 'the simulator cannot answer now',
};

/**
 * Adds the handlers for unknown routes and for errors of routes. Call it after all other routes.
 */
export function addErrorRoutes<E extends HttpError>(
  app: Express,
  name: string,
  { refusal, body }: ErrorForm<E>,
): void {
  app.use(() => {
    throw refusal(404);
  });
  const answer: ErrorRequestHandler = (error: unknown, request, response, _next) => {
    const answered = error instanceof HttpError ? (error as E) : refusal(statusOf(error));
    // Most likely a chain is unreachable.
    if (answered.status === 503)
      process.stderr.write(`${name}: ${request.method} ${request.path}: ${String(error)}\n`);
    response.status(answered.status).json(body(answered));
  };
  app.use(answer);
}

/** Returns the status that the body parser gave an error; 503 for any other error. */
function statusOf(error: unknown): number {
  const { status } = (error ?? {}) as { status?: unknown };
  return typeof status === 'number' && status < 500 ? status : 503;
}
