/** How the local exchange reads and refuses. */
import type { IncomingMessage } from 'node:http';

/** An error body of Binance. */
export class Refused extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Ask {
  /** Null: the master account. */
  readonly account: string | null;
  readonly parameters: URLSearchParams;
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** A parameter that must be there. */
export function needed({ parameters }: Ask, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === '')
    throw new Refused(
      400,
      -1102,
      `Mandatory parameter '${name}' was not sent, was empty/null, or malformed.`,
    );
  return value;
}
