/** What the perimeter's requests need: a key, a template, and a movement to be read. */
import { createClient, type BodyOf } from '../../clients/http/index.ts';
import { issue } from '../../tools/keys/issue.ts';
import type { PartSettings } from '../processes/part.ts';
import { chain } from '../templates.ts';
import { PERIMETER_KEY, PERIMETER_SECRETS_KEY } from '../processes/perimeter-key.ts';
import type { RequestKind } from './requests.ts';

/** Reads that come together are of movements that differ, as those of callers are. */
const MOVEMENTS = 64;

/** Answers reads of movements of three nodes, and a create of such a one. */
export async function preparePerimeter(
  settings: PartSettings,
): Promise<{ readonly read: RequestKind; readonly create: RequestKind }> {
  const { databaseUrl, ports } = settings.perimeter;
  const io = {
    env: { SVC_DATABASE_URL: databaseUrl, SVC_SECRETS_KEY: PERIMETER_SECRETS_KEY },
    out: () => undefined,
    err: () => undefined,
  };
  await issue(
    {
      clientName: 'bench',
      keyId: PERIMETER_KEY.keyId,
      role: 'admin',
      hmacSecret: PERIMETER_KEY.secret,
    },
    io,
  );
  const client = createClient({
    baseUrl: `http://127.0.0.1:${String(ports.whole)}`,
    key: PERIMETER_KEY,
  });
  const template = chain('instant', 3);
  await client.templates.create(template as BodyOf<'createPlanTemplate'>);
  const body = {
    template_key: template.template_key,
    template_version: template.version,
    intent: { asset: 'USDC', amount: '5' },
  };
  const paths: string[] = [];
  while (paths.length < MOVEMENTS)
    paths.push(`/v3/movements/${(await client.movements.create(body)).movement_id}`);
  return {
    read: { method: 'GET', paths, expected: 200 },
    create: { method: 'POST', paths: ['/v3/movements'], body: JSON.stringify(body), expected: 201 },
  };
}
