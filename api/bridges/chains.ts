/** The chains of the bridge registry. */
import type { z } from 'zod';
import type { Requester } from '../../domain/commands/context.ts';
import type { BridgeChain } from '../../domain/bridges/registry.ts';
import { staleSince } from '../../domain/bridges/snapshot.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  createBridgeChain,
  deleteBridgeChain,
  listBridgeChains,
  readBridgeChain,
  replaceBridgeChain,
  type At,
  type ChainChange,
} from '../../store/bridge-registry.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import type { chainCreate, chainReplace, ChainResponse } from './schema.ts';
import { assertSame, chainSubject, entryOf } from './subject.ts';

/** Returns a row as callers see it: a snapshot is also stale when it is too old. */
export function chainView(
  { row, now }: At<BridgeChain>,
  { bridgeSnapshotMaxAgeSeconds: maxAgeSeconds }: ApiDependencies['settings'],
): ChainResponse {
  const stale_detected_at = staleSince(row, { now, maxAgeSeconds });
  return { ...row, snapshot_stale: stale_detected_at !== null, stale_detected_at };
}

export async function listChains(
  _input: unknown,
  { db, settings }: ApiDependencies,
): Promise<Reply<readonly ChainResponse[]>> {
  const { now, row } = await listBridgeChains(db);
  return { status: 200, body: row.map((each) => chainView({ row: each, now }, settings)) };
}

interface OfChain {
  readonly params: { readonly chain: string };
}

export async function getChain(
  { params: { chain } }: OfChain,
  { db, settings }: ApiDependencies,
): Promise<Reply<ChainResponse>> {
  const found = await readBridgeChain(db, chain);
  if (found === null) throw notFound(chain);
  return { status: 200, body: chainView(found, settings) };
}

export async function createChain(
  {
    body,
    requester,
  }: { readonly body: z.output<typeof chainCreate>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<ChainResponse>> {
  const subject = chainSubject('create', body.chain, body);
  return auditedRefusal(deps, requester, subject, async () =>
    replyOf(await createBridgeChain(deps.db, body, entryOf(requester, subject)), body, deps),
  );
}

export async function replaceChain(
  {
    params: { chain },
    body,
    requester,
  }: OfChain & { readonly body: z.output<typeof chainReplace>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<ChainResponse>> {
  assertSame({ chain }, body, ['chain']);
  const fields = { ...body, chain };
  const subject = chainSubject('replace', chain, fields);
  return auditedRefusal(deps, requester, subject, async () =>
    replyOf(await replaceBridgeChain(deps.db, fields, entryOf(requester, subject)), fields, deps),
  );
}

export async function deleteChain(
  { params: { chain }, requester }: OfChain & { readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<ChainResponse>> {
  const subject = chainSubject('delete', chain, {});
  return auditedRefusal(deps, requester, subject, async () =>
    replyOf(await deleteBridgeChain(deps.db, chain, entryOf(requester, subject)), { chain }, deps),
  );
}

function replyOf(
  change: ChainChange | null,
  request: { readonly chain: string; readonly endpoint_identity?: string },
  { settings }: ApiDependencies,
): Reply<ChainResponse> {
  const { chain, endpoint_identity } = request;
  if (change === null) throw notFound(chain);
  switch (change.outcome) {
    case 'done':
      return { status: 200, body: chainView(change, settings) };
    case 'chain_exists':
      throw new ServiceError('chain_exists', { context: { chain } });
    case 'endpoint_identity_conflict':
      throw new ServiceError('endpoint_identity_conflict', {
        context: { endpoint_identity, chain: change.chain },
      });
    case 'chain_in_use':
      throw new ServiceError('chain_in_use', {
        context: { chain, path_baselines: change.path_baselines },
      });
  }
}

function notFound(chain: string): ServiceError {
  return new ServiceError('chain_not_found', { context: { chain } });
}
