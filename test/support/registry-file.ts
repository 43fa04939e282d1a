/** The embedded stack's registry and venues files with entries that only tests need. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chainInfo } from '../../dev/simulators/chain/accounts.ts';
import { writeStackConfig } from '../../dev/stack/config.ts';

/** Writes them into `folder`; answers the settings that name them. */
export async function writeRegistryWith(
  folder: string,
  ports: { readonly chain: number; readonly paperVenue: number },
  more: {
    readonly executors?: readonly object[];
    readonly signers?: readonly object[];
    readonly venues?: readonly object[];
  },
): Promise<{ readonly SVC_REGISTRY_FILE: string; readonly SVC_VENUES_FILE: string }> {
  mkdirSync(folder, { recursive: true });
  const { SVC_REGISTRY_FILE, SVC_VENUES_FILE } = await writeStackConfig({
    dataDir: folder,
    chain: chainInfo(ports.chain),
    paperVenueUrl: `http://127.0.0.1:${ports.paperVenue}`,
    env: {},
    log: () => undefined,
  });
  if (SVC_REGISTRY_FILE === undefined || SVC_VENUES_FILE === undefined)
    throw new Error('the embedded stack has no registry or venues file');
  const registry = JSON.parse(readFileSync(SVC_REGISTRY_FILE, 'utf8')) as {
    executors: object[];
    signers: object[];
  };
  registry.executors.push(...(more.executors ?? []));
  registry.signers.push(...(more.signers ?? []));
  writeFileSync(SVC_REGISTRY_FILE, JSON.stringify(registry));
  const bound = JSON.parse(readFileSync(SVC_VENUES_FILE, 'utf8')) as { venues: object[] };
  bound.venues.push(...(more.venues ?? []));
  writeFileSync(SVC_VENUES_FILE, JSON.stringify(bound));
  return { SVC_REGISTRY_FILE, SVC_VENUES_FILE };
}
