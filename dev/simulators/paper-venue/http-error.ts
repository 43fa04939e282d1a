/**
 * A refusal to answer the protocol at all: an HTTP error, which claims nothing about what landed.
 */
export class VenueHttpError extends Error {
  override readonly name = 'VenueHttpError';
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
