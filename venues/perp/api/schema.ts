/** Request and response schemas of the perps venue. */
import { z } from 'zod';
import { PERP_NETWORKS } from '../../../domain/perps/registry.ts';
import { AGENT_WALLET_STATES } from '../../../domain/states/agent-wallet.ts';
import { MOVEMENT_STATES } from '../../../domain/states/movement.ts';
import { checksummed, readEvmAddress, type AddressProblem } from '../../../platform/evm-address.ts';
import { instant } from '../../../platform/instant.ts';
import {
  assetCode,
  decimalString,
  listOf,
  oneOf,
  segment,
  text,
  timestamp,
  uuid,
} from '../../../api/http/schemas.ts';
import { idempotencyKey } from '../../../api/movements/schema.ts';

const DIGITS = /^0x[0-9a-fA-F]{40}$/;

/** An address in any case; the output is checksummed. */
const address = z
  .string()
  .regex(DIGITS, 'must be 0x and 40 hex digits')
  .refine((input) => problemOf(input) !== 'zero', 'is the zero address')
  .refine((input) => problemOf(input) !== 'checksum', 'its checksum is wrong: is it mistyped?')
  .overwrite(checksummed)
  .meta({ description: 'In upper or lower case, or mixed with the right checksum; not zero.' });

function problemOf(input: string): AddressProblem | null {
  const reading = readEvmAddress(input);
  return reading.ok ? null : reading.problem;
}

const shownAddress = z.string().meta({ description: 'With its checksum.' });
const signerKey = segment(128);

export const strategyParams = z.strictObject({ strategy_id: segment(128) });

export const masterCreate = z
  .strictObject({
    master_address: address,
    signer_key: signerKey.meta({ description: 'Who signs for it; its live address is the same.' }),
    network: z
      .string()
      .regex(/^([Mm][Aa][Ii][Nn]|[Tt][Ee][Ss][Tt])[Nn][Ee][Tt]$/, 'must be mainnet or testnet')
      .toLowerCase()
      .meta({ description: 'In any case.' }),
    label: text(1, 128).nullable().default(null),
  })
  .meta({
    id: 'CreateMasterAccountRequest',
    examples: [
      {
        master_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        signer_key: 'perp-master',
        network: 'testnet',
        label: 'treasury',
      },
    ],
  });

export const masterResponse = z
  .object({
    master_address: shownAddress,
    signer_key: z.string(),
    network: oneOf(PERP_NETWORKS),
    label: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'MasterAccount' });

export const bindingCreate = z
  .strictObject({
    strategy_id: segment(128),
    sub_account_address: address
      .nullable()
      .default(null)
      .meta({ description: "One of the master's sub-accounts, and this strategy's only." }),
    max_agent_balance: decimalString
      .nullable()
      .default(null)
      .meta({ description: 'A top-up never makes it have more than this.' }),
  })
  .meta({
    id: 'CreateStrategyBindingRequest',
    examples: [{ strategy_id: 'basis', max_agent_balance: '25000' }],
  });

export const bindingResponse = z
  .object({
    strategy_id: z.string(),
    sub_account_address: shownAddress.nullable(),
    max_agent_balance: decimalString.nullable(),
    paused: z.boolean().meta({ description: 'Nothing of this strategy begins at the venue.' }),
    pause_reason: z.string().nullable().meta({
      description: 'Why `paused` is what it is; null before anybody said so.',
    }),
    paused_changed_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'StrategyBinding' });

export const pauseRequest = z.strictObject({ paused: z.boolean(), reason: text(1, 1_000) }).meta({
  id: 'PauseStrategyRequest',
  examples: [{ paused: true, reason: 'The index price is off.' }],
});

const agentName = segment(16)
  .regex(/^([!-~]([ -~]*[!-~])?)?$/, 'must be printable ASCII without spaces at its ends')
  .regex(/^(?!.* valid_until )/, 'must not hold ` valid_until `, which the venue reads as an end')
  .meta({ description: "The name at the venue, among all of the master's agents." });

/**
 * Returns the time as it is stored; a text that is not a time is unchanged, and already refused.
 */
function inMilliseconds(input: string): string {
  const time = new Date(input);
  return Number.isNaN(time.getTime()) ? input : time.toISOString();
}

export const walletCreate = z
  .strictObject({
    agent_name: agentName,
    signer_key: signerKey.meta({
      description: 'Whose live address becomes the agent; one that was never used before.',
    }),
    valid_until: instant.overwrite(inMilliseconds).nullable().default(null).meta({
      description: 'In the future, at most 180 days ahead; 90 days ahead when it is left out.',
    }),
  })
  .meta({
    id: 'CreateAgentWalletRequest',
    examples: [{ agent_name: 'desk', signer_key: 'perp-agent' }],
  });

export const walletResponse = z
  .object({
    wallet_id: uuid,
    strategy_id: z.string(),
    agent_name: z.string(),
    signer_key: z.string(),
    address: shownAddress,
    valid_until: timestamp,
    state: oneOf(AGENT_WALLET_STATES),
    last_error: z.string().nullable().meta({
      description: 'What was wrong at the last look; null when nothing was.',
    }),
    created_at: timestamp,
    updated_at: timestamp,
    approved_at: timestamp.nullable().meta({
      description: 'When the venue was first seen to list it.',
    }),
  })
  .meta({ id: 'AgentWallet' });

export const walletList = listOf(walletResponse);

export const agentParams = z.strictObject({ strategy_id: segment(128), agent_name: agentName });

export const topUpRequest = z
  .strictObject({
    asset: assetCode,
    amount: decimalString,
    reason: text(1, 1_000),
    idempotency_key: idempotencyKey,
  })
  .meta({
    id: 'TopUpRequest',
    examples: [
      {
        asset: 'USDC',
        amount: '2500',
        reason: 'More margin for the week.',
        idempotency_key: 'basis-2026-11-24-1',
      },
    ],
  });

const openMovement = z.object({
  movement_id: uuid,
  request_state: oneOf(MOVEMENT_STATES),
  template_key: z.string(),
  asset: z.string(),
  amount: decimalString,
  created_at: timestamp,
});

const SIGNED = 'A decimal; it may be less than zero.';

export const emergencyResponse = z
  .object({
    strategy_id: z.string(),
    paused: z.boolean(),
    agent_wallets: walletList,
    open_movements: listOf(openMovement).meta({
      description: 'Those that have not ended, newest first, at most 200.',
    }),
    open_movement_count: z.int().meta({ description: 'How many there are in all.' }),
    venue: z
      .object({
        withdrawable: z.string().nullable().meta({ description: SIGNED }),
        account_value: z.string().nullable().meta({ description: SIGNED }),
        open_positions: z.int().nullable(),
      })
      .meta({
        description:
          "Of the strategy's sub-account, or of the master where it has none. Null when nothing was ever seen of it.",
      }),
    checked_at: timestamp.nullable().meta({
      description: 'When `venue` was read from the venue.',
    }),
    stale: z.boolean().meta({
      description: 'The venue did not say it now: it is from `checked_at`, or nothing.',
    }),
  })
  .meta({ id: 'EmergencyState' });
