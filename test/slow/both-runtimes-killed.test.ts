/** As both-runtimes, with a worker that is killed or frozen at every point of its work. */
import { compareBoth } from '../simulation/both/compare.ts';
import { STRICKEN } from '../simulation/both/scenarios.ts';

compareBoth(STRICKEN);
