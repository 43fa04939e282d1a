/**
 * The perps venue as a process. Environment: PERP_PORT, PERP_DIR, PERP_CHAIN_RPC_URL,
 * PERP_CHAIN_ID, PERP_TOKEN, PERP_BRIDGE_KEY, PERP_NETWORK.
 */
import { serve } from '../kit/process.ts';
import { readPerpSettings } from './settings.ts';
import { startPerpVenue } from './start.ts';

serve(await startPerpVenue(readPerpSettings(process.env)));
