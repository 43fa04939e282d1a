/** The routes of the executor and signer registries. */
import type { Route } from '../http/route.ts';
import { verifyDriftRoute } from './drift.ts';
import { listExecutorsRoute, updateExecutorRoute } from './executors.ts';
import { setExpectedIdentityRoute } from './expected-identity.ts';
import { raiseLaneCapsRoute } from './lanes.ts';
import { listSignersRoute, updateSignerRoute } from './signers.ts';

export const registryRoutes: readonly Route[] = [
  listExecutorsRoute,
  updateExecutorRoute,
  listSignersRoute,
  updateSignerRoute,
  raiseLaneCapsRoute,
  setExpectedIdentityRoute,
  verifyDriftRoute,
];
