/**
 * The model of the Temporal server against the real one: the same scenarios have the same ends,
 * effects, timelines and histories on both.
 */
import { compareBoth } from '../simulation/both/compare.ts';
import { LIVING } from '../simulation/both/scenarios.ts';

compareBoth(LIVING);
