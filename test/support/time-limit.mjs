// The time limit of every test that gives none. Jest takes `testTimeout` from no project of
// several.
import { jest } from '@jest/globals';
import { PATIENCE_MS } from './patience.mjs';

jest.setTimeout(3 * PATIENCE_MS);
