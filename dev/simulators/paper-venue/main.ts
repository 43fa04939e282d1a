/** The paper venue as a process. Environment: PAPER_PORT, PAPER_DATA_DIR, PAPER_CHAIN_FILE. */
import { serve } from '../kit/process.ts';
import { readSettings } from './settings.ts';
import { startVenue } from './start.ts';

serve(await startVenue(readSettings(process.env)));
