/**
 * EIP-3009: the token makes a transfer for anyone who submits its holder's signature, until an
 * expiry time and once for each nonce. Fields and types: https://eips.ethereum.org/EIPS/eip-3009
 */
import { isAddress, parseAbi, type Address, type Hex } from 'viem';
import { z } from 'zod';
import type { SignRequest } from '../../domain/executor.ts';
import { LONGEST_AUTHORIZATION_SECONDS } from '../../domain/signing.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import { issuesLine } from '../../platform/issues.ts';
import { exactUnits, type TokenDecimals } from './decimals.ts';
import type { TransferPlan } from './plan.ts';
import type { Verdict } from './act.ts';

export const AUTHORIZATION_ABI = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
]);

/** One authorized transfer. Times are seconds since 1970, by the chain's clock. */
export interface Authorization {
  readonly chain_id: number;
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly units: bigint;
  readonly valid_after: bigint;
  readonly valid_before: bigint;
  readonly nonce: Hex;
}

const field = (name: string, type: string) =>
  z.strictObject({ name: z.literal(name), type: z.literal(type) });
// Refuses addresses that the library cannot hash, before the fence (the last check of a send).
const address = z
  .string()
  .refine((text) => isAddress(text), 'must be 0x and 40 hex digits, with a right checksum if any')
  .transform((text) => text as Address);
const text = z.string().min(1).max(128);
const MAX_UINT = 2n ** 256n;
const uint = z
  .union([
    z.string().regex(/^(0|[1-9][0-9]{0,77})$/, 'must be a decimal integer string'),
    z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER),
  ])
  .transform((value) => BigInt(value))
  .refine((value) => value < MAX_UINT, 'must be below 2^256');

// Requires exactly these fields: other fields make another message, and with fewer domain fields
// the signature would be valid for other contracts and chains.
const schema = z.strictObject({
  domain: z.strictObject({
    name: text,
    version: text,
    // The library would leave a chain id that is text out of the hash.
    chainId: z.number().int().positive(),
    verifyingContract: address,
  }),
  types: z.strictObject({
    TransferWithAuthorization: z.tuple([
      field('from', 'address'),
      field('to', 'address'),
      field('value', 'uint256'),
      field('validAfter', 'uint256'),
      field('validBefore', 'uint256'),
      field('nonce', 'bytes32'),
    ]),
    EIP712Domain: z
      .tuple([
        field('name', 'string'),
        field('version', 'string'),
        field('chainId', 'uint256'),
        field('verifyingContract', 'address'),
      ])
      .optional(),
  }),
  primaryType: z.literal('TransferWithAuthorization'),
  message: z.strictObject({
    from: address,
    to: address,
    value: uint,
    validAfter: uint,
    validBefore: uint,
    nonce: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex digits')
      .transform((text) => text.toLowerCase() as Hex),
  }),
});

/** Reads typed data strictly; `problem` names the field and never its value. */
export function readAuthorization(
  payload: SignRequest['payload'],
):
  | { readonly ok: true; readonly authorization: Authorization }
  | { readonly ok: false; readonly problem: string } {
  const parsed = schema.safeParse(payload);
  if (!parsed.success)
    return { ok: false, problem: issuesLine(parsed.error, { whole: 'the typed data' }) };
  const { domain, message } = parsed.data;
  return {
    ok: true,
    authorization: {
      chain_id: domain.chainId,
      token: domain.verifyingContract,
      from: message.from,
      to: message.to,
      units: message.value,
      valid_after: message.validAfter,
      valid_before: message.validBefore,
      nonce: message.nonce,
    },
  };
}

/**
 * Checks that the authorization is exactly the planned transfer out of `from`, valid now and for an
 * hour at most. `now` is the time of the chain's newest block; `clock` is the service's time, since
 * the time of a single endpoint is not trusted. Both in seconds since 1970.
 */
export function verifyAuthorization(
  authorization: Authorization,
  planned: {
    readonly plan: TransferPlan;
    readonly decimals: TokenDecimals;
    readonly from: string;
    readonly now: bigint;
    readonly clock: bigint;
  },
): Verdict {
  const no = (problem: string): Verdict => ({ ok: false, problem });
  const { plan, decimals, from, now, clock } = planned;
  const { token, units, valid_after, valid_before } = authorization;
  if (plan.token_address === null)
    return no("an authorization moves a token, but the plan moves the chain's own coin");
  if (authorization.chain_id !== plan.chain_id)
    return no(
      `the authorization is for chain ${authorization.chain_id}, the plan for ${plan.chain_id}`,
    );
  if (!sameEvmAddress(token, plan.token_address))
    return no(`the authorization is for token ${token}, the plan for ${plan.token_address}`);
  if (!sameEvmAddress(authorization.from, from))
    return no(`the authorization is of ${authorization.from}, and the signer is ${from}`);
  if (!sameEvmAddress(authorization.to, plan.destination_address))
    return no(`the authorization pays ${authorization.to}, the plan ${plan.destination_address}`);
  const wanted = exactUnits(plan.amount, decimals);
  if (wanted === null || wanted <= 0n || units !== wanted)
    return no(
      `the authorization moves ${units} base units, the plan ${plan.amount} with ${decimals} decimals`,
    );
  if (valid_after >= now) return no('the authorization is not valid yet');
  if (valid_before <= now) return no('the authorization has expired');
  const first = now < clock ? now : clock;
  if (valid_before > first + BigInt(LONGEST_AUTHORIZATION_SECONDS))
    return no(
      `the authorization is valid for more than ${LONGEST_AUTHORIZATION_SECONDS} seconds from now`,
    );
  return { ok: true };
}
