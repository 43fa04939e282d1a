/** Stores nonces and signatures for the perps venue (prisma/functions/perp-actions.sql). */
import type { Database } from '../prisma/client.ts';
import { faultDetail, run, sqlState } from './faults.ts';

/** The owner of an action: a node's attempt, or an agent wallet that is to be approved. */
export type PerpActionOwner =
  | { readonly movement_id: string; readonly node_key: string; readonly attempt: number }
  | { readonly wallet_id: string };

export interface PerpAction {
  /** The signer's address, in lower case. */
  readonly address: string;
  /** Milliseconds since 1970; unique for each signer. */
  readonly nonce: number;
  /** 65 bytes as hex; null while the action is not signed, and so not sent. */
  readonly signature: string | null;
}

interface Stored {
  readonly address: string;
  readonly nonce: bigint;
  readonly signature: string | null;
}

/** SQLSTATE raised when the next nonce would be too far ahead of the clock. */
export const NONCE_AHEAD = 'FM015';

/** No nonce was claimed: the signer's last nonce is too far ahead of the clock. */
export interface NonceAhead {
  /** The nonce that would have been claimed, in milliseconds since 1970. */
  readonly ahead: number;
}

/** Claims the owner's nonce; a repeated call returns the same nonce. */
export async function claimPerpNonce(
  db: Database,
  signer: string,
  owner: PerpActionOwner,
): Promise<PerpAction | NonceAhead> {
  const { movement, node, attempt, wallet } = parts(owner);
  const address = signer.toLowerCase();
  try {
    const [row] = await run(
      () => db.sql<Stored>`
        SELECT address, nonce, signature FROM claim_perp_nonce(${address}, ${movement}::uuid,
          ${node}, ${attempt}::integer, ${wallet}::uuid)`,
    );
    if (row === undefined) throw new Error('the claim of a perps nonce returned no row');
    return toAction(row);
  } catch (error) {
    if (sqlState(error) !== NONCE_AHEAD) throw error;
    return { ahead: Number(faultDetail(error)) };
  }
}

/** Returns the owner's action; null while it has no nonce. */
export async function readPerpAction(
  db: Database,
  owner: PerpActionOwner,
): Promise<PerpAction | null> {
  const { movement, node, attempt, wallet } = parts(owner);
  const rows = await run(
    () => db.sql<Stored>`
      SELECT address, nonce, signature FROM perp_actions
      WHERE (movement_id = ${movement}::uuid AND node_key = ${node} AND attempt = ${attempt}::integer)
        OR wallet_id = ${wallet}::uuid`,
  );
  return rows[0] === undefined ? null : toAction(rows[0]);
}

/**
 * Stores a node's signature and returns the signature to send: the first one that was stored. Null
 * when a recovery has taken the node over since the send fence; then nothing may be sent.
 */
export async function savePerpSignature(
  db: Database,
  of: {
    readonly movement_id: string;
    readonly node_key: string;
    readonly attempt: number;
    readonly epoch: number;
  },
  signature: string,
): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ stored: string | null }>`
      SELECT save_perp_signature(${of.movement_id}::uuid, ${of.node_key}, ${of.attempt}::integer,
        ${of.epoch}::integer, ${signature}) AS stored`,
  );
  return rows[0]?.stored ?? null;
}

function parts(owner: PerpActionOwner) {
  return 'wallet_id' in owner
    ? { movement: null, node: null, attempt: null, wallet: owner.wallet_id }
    : {
        movement: owner.movement_id,
        node: owner.node_key,
        attempt: owner.attempt,
        wallet: null,
      };
}

function toAction({ address, nonce, signature }: Stored): PerpAction {
  return { address, nonce: Number(nonce), signature };
}
