/**
 * Action types that send a packet through the bridge bridge_c and observe its delivery on another
 * chain.
 */
import { HOUR_SECONDS, type ActionName, type ActionSpec } from './spec.ts';

export const BRIDGE_C_ACTIONS = {
  bridge_c_send: {
    signs: 'transaction',
    sends: true,
    idle: false,
    allowance: false,
    reserved: false,
    token: 'bridge',
    pool: 'source_chain_id',
    payees: { strict: 'destination_chain_id' },
    amount: 'plan',
    sent: 'submitted_amount',
    puller: 'carrier',
    crossing: {
      lane: 'bridge_c',
      leg: 1,
      records: ['packet', 'destination_chain_id', 'destination_address'],
      unbrought: 'delivery_failure_pays',
    },
    checks: [],
    claim: { named: ['packet'], required: 'packet', stated: ['tx_hash'] },
    watches: null,
    signerTie: 'allowance',
    requires: { kind: 'bridge_path' },
    defaults: {},
    transport: 'bridge',
    venue: 'source',
    usualSeconds: HOUR_SECONDS,
  },
  bridge_c_observe: {
    signs: null,
    sends: false,
    idle: false,
    allowance: false,
    reserved: false,
    token: 'first_leg',
    pool: 'account',
    payees: 'none',
    amount: 'plan',
    sent: 'submitted_amount',
    puller: null,
    crossing: { lane: 'bridge_c', leg: 2, names: 'match_from' },
    checks: ['first_leg_known', 'no_time_out'],
    claim: {
      named: ['matched_packet', 'guid', 'external_ref'],
      required: 'always',
      stated: ['tx_hash'],
    },
    watches: null,
    signerTie: null,
    requires: null,
    defaults: {},
    transport: null,
    venue: 'source',
    usualSeconds: HOUR_SECONDS,
  },
} as const satisfies Readonly<Record<Extract<ActionName, `bridge_c_${string}`>, ActionSpec>>;
