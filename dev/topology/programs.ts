/** The programs of the topology that are no part of the clone. */
import { whyMissing } from '../image/packages.ts';
import { prometheusPrograms } from '../monitoring/promtool.ts';
import { toxiproxyProgram } from './network.ts';
import type { TopologyPrograms } from './start.ts';
import { temporalPrograms } from './temporal.ts';

/**
 * Builds or installs what is missing, once; returns the programs, or why there is no topology on
 * this machine.
 */
export async function findPrograms(): Promise<TopologyPrograms | string> {
  const why = await whyMissing(['haproxy', 'pgbouncer']);
  if (why !== null) return why;
  const temporal = await temporalPrograms();
  const toxiproxy = await toxiproxyProgram();
  if (temporal === null || toxiproxy === null)
    return "there is no Go to build Temporal's server and toxiproxy";
  const monitoring = await prometheusPrograms();
  return { temporal, toxiproxy, prometheus: monitoring?.prometheus ?? null };
}
