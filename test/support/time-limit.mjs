// The time limit of every test that gives none. Jest takes `testTimeout` from no project of
// several.
import { jest } from '@jest/globals';

jest.setTimeout(60_000);
