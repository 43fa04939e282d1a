/** Ports of the topology: one for each listener, counted up from a base. */
import { claimPort } from '../bootstrap/port-claims.mjs';
import { isFree } from '../stack/ports.ts';

/** Where the ports start unless `--base-port` says otherwise. */
export const BASE_PORT = 18_000;

/**
 * The listeners, in the order of their ports. A new one is added at the end, so that the others
 * stay where people know them. `…Front` and `…Vip` are listened on by toxiproxy.
 */
const LISTENERS = [
  'haproxy',
  'api1',
  'api2',
  'api1Ops',
  'api2Ops',
  'worker1Ops',
  'worker2Ops',
  'worker1Sdk',
  'worker2Sdk',
  'prometheus',
  'fundA',
  'fundB',
  'fundAFront',
  'fundBFront',
  'fundVip',
  'temporalA',
  'temporalB',
  'temporalVip',
  'pooler',
  'toxiproxy',
  'temporalFrontend',
  'temporalFrontendFront',
  'temporalFrontendMembership',
  'temporalFrontendMetrics',
  'temporalFrontendHttp',
  'temporalHistory',
  'temporalHistoryMembership',
  'temporalHistoryMetrics',
  'temporalMatching',
  'temporalMatchingMembership',
  'temporalMatchingMetrics',
  'temporalWorker',
  'temporalWorkerMembership',
  'temporalWorkerMetrics',
  'venue',
  'venueFront',
  'chain',
  'chainNode',
  'chainFront',
] as const;

export type TopologyPort = (typeof LISTENERS)[number];
export type TopologyPorts = Readonly<Record<TopologyPort, number>>;

/** Ports of the topology cannot be used; the message says which and what to do. */
export class TopologyPortError extends Error {
  override name = 'TopologyPortError';
}

/**
 * Returns the port of each listener: `base` and those after it. Throws a TopologyPortError when
 * they do not all fit between 1024 and 65535.
 */
export function topologyPorts(base: number): TopologyPorts {
  const highest = 65_535 - LISTENERS.length + 1;
  if (!Number.isInteger(base) || base < 1_024 || base > highest) {
    throw new TopologyPortError(
      `The base port is ${String(base)}. It must be a whole number from 1024 to ${String(highest)}: the topology takes ${String(LISTENERS.length)} ports from there.`,
    );
  }
  const entries = LISTENERS.map((name, index) => [name, base + index] as const);
  return Object.fromEntries(entries) as TopologyPorts;
}

/**
 * Claims all ports for the life of this process, as stacks claim theirs. Rejects with a
 * TopologyPortError that names those that another process has.
 */
export async function claimTopologyPorts(ports: TopologyPorts): Promise<void> {
  const taken: string[] = [];
  for (const [name, port] of Object.entries(ports))
    if (!claimPort(port) || !(await isFree(port))) taken.push(`${String(port)} (${name})`);
  if (taken.length === 0) return;
  throw new TopologyPortError(
    `Ports of the topology are taken: ${taken.join(', ')}. Stop what listens there, or set --base-port to another base.`,
  );
}
