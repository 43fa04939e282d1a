/** An HTTP error instead of a result of the protocol: it claims nothing about what was executed. */
import { HttpError, type ErrorForm } from '../kit/http.ts';

export class VenueHttpError extends HttpError {
  override readonly name = 'VenueHttpError';
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(status, message);
    this.code = code;
  }
}

/** Errors with the body `{detail: {error, message}}`. */
export const VENUE_ERRORS: ErrorForm<VenueHttpError> = {
  refusal: (status) => {
    if (status === 404) return new VenueHttpError(404, 'NOT_FOUND', 'the venue has no such route');
    if (status === 503)
      return new VenueHttpError(503, 'VENUE_UNAVAILABLE', 'the venue cannot answer now');
    return new VenueHttpError(status, 'INVALID_REQUEST', 'the body cannot be read');
  },
  body: ({ code, message }) => ({ detail: { error: code, message } }),
};
