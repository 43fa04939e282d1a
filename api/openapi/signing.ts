/** Describes in the document how requests are signed: enough for a reader to write a client. */
import { canonicalString, signatureOf, type SignedParts } from '../auth/canonical.ts';
import type { JsonSchema } from './schemas.ts';

/** The request of the worked example; its secret is not used anywhere else. */
const EXAMPLE_KEY = { id: 'example-key', secret: 'example-secret-0123456789abcdef' };
const EXAMPLE_TARGET = '/v3/plan-templates/treasury/caf%C3%A9?dry=a%20b&x=';
const EXAMPLE_BODY = '{"auto_approve_enabled": false}';
const EXAMPLE: SignedParts = {
  method: 'PATCH',
  path: '/v3/plan-templates/treasury/café',
  query: 'dry=a%20b&x=',
  body: Buffer.from(EXAMPLE_BODY, 'utf8'),
  timestamp: '1763712000',
  nonce: '5f2b9c0e7a1d4836b0c9e2f7d4a58136',
};

function signingExample(): JsonSchema {
  return {
    key_id: EXAMPLE_KEY.id,
    secret: EXAMPLE_KEY.secret,
    method: EXAMPLE.method,
    target: EXAMPLE_TARGET,
    body: EXAMPLE_BODY,
    timestamp: EXAMPLE.timestamp,
    nonce: EXAMPLE.nonce,
    canonical: canonicalString(EXAMPLE),
    signature: signatureOf(EXAMPLE_KEY.secret, EXAMPLE).toString('hex'),
  };
}

/** Returns the signing scheme in Markdown. */
export function signingText(maxSkewSeconds: number): string {
  const example = signingExample();
  const line = (name: string): string => String(example[name]);
  return `## Signing requests

Every request under the prefix carries four headers, each exactly once and not empty. The body, the path and the query are
covered by the signature; other headers are not.

| header | holds |
|---|---|
| \`X-SVC-Key-Id\` | the id of the key |
| \`X-SVC-Timestamp\` | seconds since 1970 in decimal digits, at most ${String(maxSkewSeconds)} from the service's clock, either way |
| \`X-SVC-Nonce\` | 1 to 128 of \`A-Z a-z 0-9 . _ ~ -\`, never used before with this key; 16 random bytes in hex will do |
| \`X-SVC-Signature\` | 64 lowercase hex digits |

The signature is HMAC-SHA256 over the UTF-8 bytes of six lines, joined by one newline (\`\\n\`) each, with none at the end:

1. METHOD: in capitals, as sent.
2. PATH: the path of the request line with the prefix and without the query, percent-decoded once as UTF-8. A path may
   not hold an encoded \`/\`, \`\\\` or \`%\`, an empty or dot segment, or a control character: that is 400 \`invalid_path\`.
3. QUERY: what follows the first \`?\` of the request line, exactly as sent: not decoded, not sorted, without the \`?\`.
   An empty line when there is none.
4. The SHA-256 of the body's bytes as sent, in lowercase hex. Without a body that is the hash of nothing,
   \`e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\`.
5. TIMESTAMP: as in its header.
6. NONCE: as in its header.

The HMAC's key is the UTF-8 bytes of the secret's text as it was shown when the key was issued. Do not decode it, even
when it looks like hex or base64.

Sign what is really sent: HTTP libraries may normalise a path, encode a query anew or write JSON with other spaces.
Serialise the body once, and hash and send those bytes.

A nonce is used up by the first request that is signed well, whatever its answer. **A repeat needs a new timestamp, a
new nonce and with them a new signature**; that a create is not carried out twice is what \`Idempotency-Key\` is for.

Every fault of the signature, of the key, of the clock or of the nonce is answered 401 \`unauthenticated\` and nothing
more; the operator's log has the reason, under the answer's \`X-Request-Id\`. 403 means that the signature was right and
the key's role (\`x-roles\` of the operation) may not do this.

### Worked example

The key \`${line('key_id')}\` with the secret \`${line('secret')}\` sends

\`\`\`http
${line('method')} ${line('target')} HTTP/1.1
Content-Type: application/json
X-SVC-Key-Id: ${line('key_id')}
X-SVC-Timestamp: ${line('timestamp')}
X-SVC-Nonce: ${line('nonce')}
X-SVC-Signature: ${line('signature')}

${line('body')}
\`\`\`

and signs these six lines:

\`\`\`text
${line('canonical')}
\`\`\`

A client in one file of Python's standard library is at \`/docs/fund_api.py\` on the listener that serves this document,
and this text alone at \`/docs/signing.md\`.
`;
}

/** Returns the four headers; together they are one security requirement. */
export function securitySchemes(): JsonSchema {
  const words = {
    'Key-Id': 'The id of the key.',
    Timestamp: 'Seconds since 1970, in decimal digits.',
    Nonce: '1 to 128 of `A-Z a-z 0-9 . _ ~ -`, new for every attempt.',
    Signature:
      'HMAC-SHA256 over six lines, in lowercase hex; the description of this document has the whole scheme and a worked example.',
  };
  return Object.fromEntries(
    Object.entries(words).map(([name, description]) => [
      name,
      { type: 'apiKey', in: 'header', name: `X-SVC-${name}`, description },
    ]),
  );
}

/** Returns what operations need: every header of {@link securitySchemes}. */
export function securityRequirement(): JsonSchema {
  return Object.fromEntries(Object.keys(securitySchemes()).map((name) => [name, []]));
}
