/** What test files know of the stack that they share; it loads nothing of what starts the stack. */
import type { ChainInfo } from '../../dev/stack/chain.ts';
import type { DevKeys } from '../../dev/stack/keys.ts';
import type { StackPerp } from '../../dev/stack/perp.ts';

/** The variable through which test files learn of the stack. */
export const SHARED_STACK = 'TEST_SHARED_STACK';

/**
 * Who acts with `fundadmin` at the shared stack: any test may have an approval rule in force
 * meanwhile.
 */
export const TOOL_PERSON = 'tool';

/** What a test file knows of the shared stack. */
export interface SharedStack {
  readonly apiUrl: string;
  readonly opsUrl: string;
  readonly uiUrl: string;
  readonly temporalAddress: string;
  readonly databaseUrl: string;
  readonly paperVenueUrl: string;
  readonly chain: ChainInfo;
  /** Its master is the development signer. */
  readonly perp: StackPerp;
  readonly keys: DevKeys;
  /** The id of the client that {@link keys}' admin belongs to. */
  readonly adminClientId: string;
  /** The environment of `fundadmin` for this stack. */
  readonly toolEnv: Readonly<Record<string, string>>;
  /** Where test files note every signature that they send. */
  readonly sentSignatures: string;
  /** The account of {@link TEST_SIGNER}: ETH for gas and no token at first. */
  readonly wallet: string;
  /** Who may write on the dashboard, with their secrets. */
  readonly dashboardKeys: Readonly<Record<string, string>>;
}

/**
 * A second EVM signer, so that tests may pin, disable and fund it. Its key is anvil's account 4.
 */
export const TEST_SIGNER = { signer_key: 'test-wallet', profile: 'test-wallet' } as const;

/**
 * One that tests disable and pin while its movements wait; nothing else is signed by it. Its key is
 * anvil's account 8.
 */
export const GUARDED_SIGNER = { signer_key: 'test-guarded', profile: 'test-guarded' } as const;

/**
 * One whose pool a test adds up, so that no other test pays it or from it. Its key is anvil's
 * account 7.
 */
export const PURSE_SIGNER = { signer_key: 'test-purse', profile: 'test-purse' } as const;
export const PURSE = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
