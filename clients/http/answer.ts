/** Reads the service's answers: a success into its body, a failure into an {@link ApiError}. */
import { ApiError, ChangeRequestedError, PreviewError, type Issue } from './errors.ts';

/** The headers of an answer; a name in any case. */
export type AnswerHeaders = Pick<Headers, 'get'>;

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Returns the body of a success: the parsed JSON, or the text for an answer of type text/plain. */
export function bodyOf({ status, headers, text }: Answer): unknown {
  if (headers.get('content-type')?.startsWith('text/plain') === true) return text;
  const body = parsed(text);
  if (body === undefined) throw strange({ status, headers, text }, 'with a body that is not JSON');
  return body;
}

/** Returns the error for an answer that is no success. */
export function errorOf(answer: Answer): ApiError {
  const body = parsed(answer.text);
  const detail = isObject(body) ? body['detail'] : undefined;
  if (typeof detail === 'string')
    return new ApiError({
      ...about(answer),
      rawCode: answer.status === 429 ? 'rate_limited' : null,
      message: detail,
      context: {},
      issues: [],
    });
  if (!isObject(detail)) return strange(answer, 'without saying why');
  const { error, message, issues, ...context } = detail;
  return new ApiError({
    ...about(answer),
    rawCode: typeof error === 'string' ? error : null,
    message: typeof message === 'string' ? message : `The service answered ${answer.status}.`,
    context,
    issues: Array.isArray(issues) ? (issues as readonly Issue[]) : [],
  });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the error for a 202: the call changed nothing, but made a change request. */
export function waitsOf(answer: Answer): ChangeRequestedError | ApiError {
  const body = parsed(answer.text);
  const { change_request_id: id, kind, hash }: Json = isObject(body) ? body : {};
  // The id is checked, since programs print it as a word of a command.
  if (typeof id !== 'string' || !UUID.test(id) || typeof kind !== 'string')
    return strange(answer, 'without a change request');
  if (typeof hash !== 'string') return strange(answer, 'without the hash of the change request');
  return new ChangeRequestedError({ changeRequestId: id, kind, hash });
}

/** Returns the error for an answer that the service cannot have sent, as from a proxy. */
export function strange(answer: Answer, how: string): ApiError {
  return new ApiError({
    ...about(answer),
    rawCode: null,
    message: `The answer was ${String(answer.status)} ${how}; it may come from a proxy, or the address is another server's.`,
    context: {},
    issues: [],
  });
}

/** Query parameter of a dry run. A parameter, because the signature covers no header. */
export const DRY_RUN = { dry_run: 'true' } as const;

/** Returns a dry run's reply; throws {@link PreviewError} for a reply that is no preview. */
export function previewOf<Got extends { readonly status: number; readonly body: unknown }>(
  reply: Got,
): Got {
  const body = isObject(reply.body) ? reply.body : {};
  if (reply.status === 200 && typeof body['would_create'] === 'boolean') return reply;
  const id = body['movement_id'];
  throw new PreviewError(reply.status, typeof id === 'string' ? id : null);
}

function about({ status, headers }: Answer) {
  return {
    status,
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: secondsOf(headers.get('retry-after')),
  };
}

/** Returns the seconds of a `Retry-After` header: a number, or a date as some proxies send. */
function secondsOf(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const time = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
