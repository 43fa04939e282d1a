/** The paths of the bridge registry. */
import type { z } from 'zod';
import type { Requester } from '../../domain/commands/context.ts';
import { endContracts } from '../../domain/bridges/contracts.ts';
import type { BridgePathKey } from '../../domain/bridges/registry.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  createBridgePath,
  deleteBridgePath,
  listBridgePaths,
  noteBridgeDrill,
  readBridgePath,
  replaceBridgePath,
  type PathChange,
} from '../../store/bridge-registry.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { invalidRequest } from '../http/issues.ts';
import type { Reply } from '../http/route.ts';
import type { drillPassRequest, pathCreate, pathReplace, PathResponse } from './schema.ts';
import { assertSame, entryOf, pathSubject } from './subject.ts';

export async function listPaths(
  _input: unknown,
  { db }: ApiDependencies,
): Promise<Reply<readonly PathResponse[]>> {
  return { status: 200, body: await listBridgePaths(db) };
}

interface OfPath {
  readonly params: BridgePathKey;
}

export async function getPath(
  { params }: OfPath,
  { db }: ApiDependencies,
): Promise<Reply<PathResponse>> {
  const found = await readBridgePath(db, params);
  if (found === null) throw notFound(params);
  return { status: 200, body: found };
}

export async function createPath(
  {
    body,
    requester,
  }: { readonly body: z.output<typeof pathCreate>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<PathResponse>> {
  if (body.src_chain === body.dst_chain)
    throw invalidRequest([
      { path: 'dst_chain', code: 'invalid_value', message: 'must not be src_chain' },
    ]);
  const subject = pathSubject('create', body, body);
  return auditedRefusal(deps, requester, subject, async () =>
    replyOf(await createBridgePath(deps.db, body, entryOf(requester, subject)), body),
  );
}

export async function replacePath(
  {
    params,
    body,
    requester,
  }: OfPath & { readonly body: z.output<typeof pathReplace>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<PathResponse>> {
  assertSame(params, body, ['src_chain', 'dst_chain', 'asset']);
  const path = { ...body, ...params };
  const audit = entryOf(requester, pathSubject('replace', params, path));
  return replyOf(await replaceBridgePath(deps.db, path, audit), params);
}

export async function deletePath(
  { params, requester }: OfPath & { readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<PathResponse>> {
  const audit = entryOf(requester, pathSubject('delete', params, {}));
  return replyOf(await deleteBridgePath(deps.db, params, audit), params);
}

export async function noteDrill(
  {
    params,
    body,
    requester,
  }: OfPath & { readonly body: z.output<typeof drillPassRequest>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<PathResponse>> {
  const audit = entryOf(requester, pathSubject('drill_pass', params, body));
  const drill = { ...body, ends: endContracts(deps.chains, params.asset) };
  return replyOf(await noteBridgeDrill(deps.db, params, drill, audit), params);
}

function replyOf(change: PathChange | null, key: BridgePathKey): Reply<PathResponse> {
  if (change === null) throw notFound(key);
  switch (change.outcome) {
    case 'done':
      return { status: 200, body: change.row };
    case 'path_baseline_exists':
      throw new ServiceError('path_baseline_exists', { context: keyOf(key) });
    case 'chain_not_found':
      throw new ServiceError('chain_not_found', { context: { chain: change.chain } });
  }
}

function notFound(path: BridgePathKey): ServiceError {
  return new ServiceError('path_baseline_not_found', { context: keyOf(path) });
}

function keyOf({ src_chain, dst_chain, asset }: BridgePathKey) {
  return { src_chain, dst_chain, asset };
}
