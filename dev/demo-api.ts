/** API calls of the demo. */
import { ApiError, createClient, type BodyOf, type FundClient } from '../clients/http/index.ts';
import type { StackBridges } from './stack/bridges.ts';
import type { StackPerp } from './stack/perp.ts';
import type { ChainInfo } from './stack/chain.ts';
import type { DevKeys } from './stack/keys.ts';
import { starterTemplates } from './stack/starter-templates.ts';

/** Returns a client that may create and approve movements. */
export function operatorOf(apiUrl: string, keys: DevKeys): FundClient {
  return createClient({ baseUrl: apiUrl, key: keys.operator });
}

/** Registers the starter templates that do not exist yet; returns all of them. */
export async function loadStarterTemplates(stack: {
  readonly apiUrl: string;
  readonly chain: ChainInfo;
  readonly keys: DevKeys;
  readonly bridges?: StackBridges | null;
  readonly perp?: StackPerp | null;
}): Promise<ReturnType<typeof starterTemplates>> {
  const admin = createClient({ baseUrl: stack.apiUrl, key: stack.keys.admin });
  const templates = starterTemplates(stack.chain, stack.bridges, stack.perp);
  for (const template of templates)
    try {
      await admin.templates.create(template as BodyOf<'createPlanTemplate'>);
    } catch (error) {
      // The template exists already.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  return templates;
}
