import type { ChainInfo } from './chain.ts';

/** Search attributes that the development server registers, as `Name=Type`. */
export const SEARCH_ATTRIBUTES: readonly string[] = [];

/** Writes the service's configuration files into the data folder; answers its environment. */
export async function writeStackConfig(_options: {
  dataDir: string;
  chain: ChainInfo;
  paperVenueUrl: string;
}): Promise<Record<string, string>> {
  return {};
}
