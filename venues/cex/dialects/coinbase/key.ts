/** Checks an API key of Coinbase (docs/coinbase-facts.md, 15). */
import { createPrivateKey } from 'node:crypto';
import type { CallOptions } from '../../../../domain/executor.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { CexCredentials } from '../../credentials.ts';
import * as answers from './answers.ts';

const NAME = /^organizations\/[A-Za-z0-9-]+\/apiKeys\/[A-Za-z0-9-]+$/;
/** The only form that the library signs with; it would sign otherwise with any other text. */
const PEM = '-----BEGIN EC PRIVATE KEY-----';

/** As `credentialsFault` of the dialect: only ES256 keys of Coinbase App are used. */
export function credentialsFault({ api_key, secret, password }: CexCredentials): string | null {
  if (password !== undefined)
    return 'password must not be there: a passphrase belongs to Coinbase Exchange, another service';
  if (!NAME.test(api_key.reveal()))
    return 'api_key must be the name of a key of Coinbase App: organizations/<id>/apiKeys/<id>';
  if (!isEs256(secret.reveal()))
    return `secret must be an EC key (P-256) in a PEM of several lines, the first of them ${PEM}`;
  return null;
}

function isEs256(pem: string): boolean {
  if (!pem.startsWith(PEM)) return false;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    // The error is dropped: it may quote the key.
    return false;
  }
}

/** As `keyFault` of the dialect. */
export async function keyFault(
  connection: CexConnection,
  needs: { readonly withdraw: boolean },
  call: CallOptions,
): Promise<string | null> {
  const method = 'v3PrivateGetBrokerageKeyPermissions';
  const key = await ask(connection, method, {}, call, answers.keyPermissions);
  if (key.can_view !== true) return 'the API key may not read';
  if (needs.withdraw && key.can_transfer !== true) return 'the API key may not withdraw';
  // From which portfolio a send of another key leaves is unproven (4).
  if (key.portfolio_type !== null && key.portfolio_type !== 'DEFAULT')
    return 'the API key is of another portfolio; create one for the default portfolio';
  return null;
}
