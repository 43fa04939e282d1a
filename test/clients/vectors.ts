/** Fixed signatures of another implementation. */
import { readFileSync } from 'node:fs';

export interface Vector {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly body_base64: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly secret: string;
  readonly canonical: string;
  readonly signature: string;
  readonly operator: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const VECTORS = JSON.parse(
  readFileSync(new URL('vectors.json', import.meta.url), 'utf8'),
) as {
  readonly inbound: readonly Vector[];
  readonly dashboard: readonly Vector[];
  readonly callbacks: readonly Vector[];
};
