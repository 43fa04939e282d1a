/** The attester as a process. Environment: BRIDGE_PORT, BRIDGE_DIR, BRIDGE_{NEAR,FAR}_RPC_URL. */
import { serve } from '../../kit/process.ts';
import { readBridgeSettings } from '../sides.ts';
import { startAttester } from './start.ts';

serve(await startAttester(readBridgeSettings(process.env)));
