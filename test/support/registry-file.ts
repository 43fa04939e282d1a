/** The embedded stack's registry file with entries that only tests need. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chainInfo } from '../../dev/chain/accounts.ts';
import { writeStackConfig } from '../../dev/stack-config.ts';

/** Writes it into `folder`; answers the setting that names it. */
export async function writeRegistryWith(
  folder: string,
  ports: { readonly chain: number; readonly paperVenue: number },
  more: { readonly executors?: readonly object[]; readonly signers?: readonly object[] },
): Promise<{ readonly SVC_REGISTRY_FILE: string }> {
  mkdirSync(folder, { recursive: true });
  const { SVC_REGISTRY_FILE } = await writeStackConfig({
    dataDir: folder,
    chain: chainInfo(ports.chain),
    paperVenueUrl: `http://127.0.0.1:${ports.paperVenue}`,
  });
  if (SVC_REGISTRY_FILE === undefined) throw new Error('the embedded stack has no registry file');
  const registry = JSON.parse(readFileSync(SVC_REGISTRY_FILE, 'utf8')) as { executors: object[]; signers: object[] };
  registry.executors.push(...(more.executors ?? []));
  registry.signers.push(...(more.signers ?? []));
  writeFileSync(SVC_REGISTRY_FILE, JSON.stringify(registry));
  return { SVC_REGISTRY_FILE };
}
