/**
 * The routes of the bridge registry (commercial edition), and the route that refreshes the registry
 * (every edition).
 */
import { ADMIN_ROLES, ALL_ROLES, type Role } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { createChain, deleteChain, getChain, listChains, replaceChain } from './chains.ts';
import { createPath, deletePath, getPath, listPaths, noteDrill, replacePath } from './paths.ts';
import { refresh } from './refresh.ts';
import {
  chainCreate,
  chainList,
  chainParams,
  chainReplace,
  chainResponse,
  drillPassRequest,
  pathCreate,
  pathList,
  pathParams,
  pathReplace,
  pathResponse,
  refreshResponse,
} from './schema.ts';

/** The roles that may call each of {@link bridgeRegistryRoutes}. */
export const BRIDGE_REGISTRY_ROLES: Readonly<Record<string, readonly Role[]>> = {
  listBridgeChains: ALL_ROLES,
  getBridgeChain: ALL_ROLES,
  createBridgeChain: ADMIN_ROLES,
  replaceBridgeChain: ADMIN_ROLES,
  deleteBridgeChain: ADMIN_ROLES,
  listPathBaselines: ALL_ROLES,
  getPathBaseline: ALL_ROLES,
  createPathBaseline: ADMIN_ROLES,
  replacePathBaseline: ADMIN_ROLES,
  deletePathBaseline: ADMIN_ROLES,
  recordDrillPass: ADMIN_ROLES,
};

const common = {
  // The extension sets the roles.
  roles: [],
  tag: 'Bridge registry',
  query: noQuery,
} as const;
const chains = { ...common, path: '/bridge-c/chain-registry' } as const;
const chain = {
  ...common,
  path: '/bridge-c/chain-registry/{chain}',
  params: chainParams,
  response: chainResponse,
} as const;
const paths = { ...common, path: '/bridge-c/path-baselines' } as const;
const path = {
  ...common,
  path: '/bridge-c/path-baselines/{src_chain}/{dst_chain}/{asset}',
  params: pathParams,
  response: pathResponse,
} as const;

export const bridgeRegistryRoutes: readonly Route[] = [
  defineRoute({
    ...chains,
    id: 'listBridgeChains',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    summary: 'List the chains of the bridge',
    description: 'All of them, by their names.',
    params: noParams,
    body: noBody,
    response: chainList,
    errors: [],
    handler: listChains,
  }),
  defineRoute({
    ...chains,
    id: 'createBridgeChain',
    method: 'POST',
    power: { widens: 'bridge' },
    summary: 'Add a chain of the bridge',
    description: 'Its snapshot is stale until a refresh has read its endpoint.',
    params: noParams,
    body: chainCreate,
    response: chainResponse,
    errors: ['chain_exists', 'endpoint_identity_conflict'],
    handler: createChain,
  }),
  defineRoute({
    ...chain,
    id: 'getBridgeChain',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    summary: 'Read a chain of the bridge',
    body: noBody,
    errors: ['chain_not_found'],
    handler: getChain,
  }),
  defineRoute({
    ...chain,
    id: 'replaceBridgeChain',
    method: 'PUT',
    power: { widens: 'bridge' },
    summary: 'Replace a chain of the bridge',
    description:
      'Replaces every writable field. Another `endpoint_identity` makes the snapshot stale until a refresh has read the new ' +
      'endpoint, and clears the drill passes of the paths that start or end there.',
    body: chainReplace,
    errors: ['chain_not_found', 'endpoint_identity_conflict'],
    handler: replaceChain,
  }),
  defineRoute({
    ...chain,
    id: 'deleteBridgeChain',
    method: 'DELETE',
    power: 'narrows',
    summary: 'Remove a chain of the bridge',
    description: 'Answers the row as it was. A chain at which paths begin or end stays.',
    body: noBody,
    errors: ['chain_not_found', 'chain_in_use'],
    handler: deleteChain,
  }),
  defineRoute({
    ...paths,
    id: 'listPathBaselines',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    summary: 'List the paths of the bridge',
    description: 'All of them, by their chains and assets.',
    params: noParams,
    body: noBody,
    response: pathList,
    errors: [],
    handler: listPaths,
  }),
  defineRoute({
    ...paths,
    id: 'createPathBaseline',
    method: 'POST',
    power: { widens: 'bridge' },
    summary: 'Add a path of the bridge',
    description:
      'Between two chains that are in the registry. It may be used once a drill has passed. A path has two different ends.',
    params: noParams,
    body: pathCreate,
    response: pathResponse,
    errors: ['chain_not_found', 'path_baseline_exists'],
    handler: createPath,
  }),
  defineRoute({
    ...path,
    id: 'getPathBaseline',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    summary: 'Read a path of the bridge',
    body: noBody,
    errors: ['path_baseline_not_found'],
    handler: getPath,
  }),
  defineRoute({
    ...path,
    id: 'replacePathBaseline',
    method: 'PUT',
    power: { widens: 'bridge' },
    summary: 'Replace a path of the bridge',
    description: 'All that may be written is replaced; its last drill stays what it was.',
    body: pathReplace,
    errors: ['path_baseline_not_found'],
    handler: replacePath,
  }),
  defineRoute({
    ...path,
    id: 'deletePathBaseline',
    method: 'DELETE',
    power: 'narrows',
    summary: 'Remove a path of the bridge',
    description: 'Answers the row as it was.',
    body: noBody,
    errors: ['path_baseline_not_found'],
    handler: deletePath,
  }),
  defineRoute({
    ...path,
    id: 'recordDrillPass',
    method: 'POST',
    power: { widens: 'bridge' },
    path: '/bridge-c/path-baselines/{src_chain}/{dst_chain}/{asset}/drill-pass',
    summary: 'Note that a drill went through a path',
    description: 'It counts until an `endpoint_identity` of the two chains is another one.',
    body: drillPassRequest,
    errors: ['path_baseline_not_found'],
    handler: noteDrill,
  }),
];

/** The route that refreshes the registry; every edition has it. */
export const bridgeRefreshRoute = defineRoute({
  roles: ADMIN_ROLES,
  tag: common.tag,
  query: noQuery,
  id: 'refreshBridgeRegistry',
  method: 'POST',
  power: 'moves',
  path: '/executors/bridge-c/refresh-registry',
  summary: 'Read every chain of the bridge again',
  description:
    'Reads each endpoint through the venue whose key or chain id is the name of the chain. A chain whose facts changed ' +
    'gets a new `snapshot_version`; one that does not answer, or is not what its identity says, is stale.',
  params: noParams,
  body: noBody,
  response: refreshResponse,
  errors: [],
  handler: refresh,
});
