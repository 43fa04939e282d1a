/** Plan templates of the embedded stack. */
import { BRIDGED_ASSETS } from '../simulators/bridge/lanes.ts';
import type { BridgeSide, StackBridges } from './bridges.ts';
import type { ChainInfo } from './chain.ts';
import type { StackPerp } from './perp.ts';

type Sides = Pick<StackBridges, 'near' | 'far'>;

/**
 * Returns bodies for `POST plan-templates`. With bridges there is one template more, across them;
 * with the perps venue three more, into the venue and out of it.
 */
export function starterTemplates(
  chain: ChainInfo,
  bridges: Sides | null = null,
  perp: StackPerp | null = null,
) {
  const withdraw = {
    node_key: 'withdraw',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-main',
      asset: 'USDC',
      network: 'local',
      destination_address: chain.accounts.signer.address,
    },
    timeout_policy: { execution_seconds: 300 },
  };
  const sweep = {
    node_key: 'sweep',
    node_kind: 'action',
    action_type: 'evm_erc20_transfer',
    executor_selector: { action_type: 'evm_erc20_transfer', chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    has_side_effect: true,
    config: {
      asset: 'USDC',
      chain_id: chain.chainId,
      token_address: chain.tokens.USDC.address,
      destination_address: chain.accounts.treasury.address,
    },
  };
  // The next node moves the received amount: with the intent's amount it would draw from the wallet
  // a second time.
  const passOn = {
    ...sweep,
    config: { ...sweep.config, amount_ref: 'nodes.withdraw.output.received_amount' },
  };
  // The node that runs after a cancel: undoes nothing; funds that have arrived stay.
  const stop = { node_key: 'stop', node_kind: 'compensation', action_type: 'noop' };
  const gate = { node_key: 'check', node_kind: 'manual_gate', action_type: 'manual_gate' };
  const common = {
    version: 1,
    owner: 'treasury',
    risk_controls: { max_amount: '100000', min_amount: '1' },
  };
  return [
    {
      ...common,
      template_key: 'starter/withdraw-to-treasury',
      name: 'Withdraw USDC from the paper venue and move it to the treasury',
      nodes: [withdraw, passOn, stop],
      edges: [
        { from: 'withdraw', to: 'sweep', edge_type: 'on_success' },
        { from: 'withdraw', to: 'stop', edge_type: 'on_cancel' },
      ],
      completion_policy: { completion_assurance: 'destination_finalized' },
    },
    {
      ...common,
      template_key: 'starter/withdraw-with-gate',
      name: 'Withdraw USDC, wait for a person, then move it to the treasury',
      nodes: [withdraw, gate, passOn, stop],
      edges: [
        { from: 'withdraw', to: 'check', edge_type: 'on_success' },
        { from: 'check', to: 'sweep', edge_type: 'on_success' },
        { from: 'withdraw', to: 'stop', edge_type: 'on_cancel' },
      ],
      completion_policy: { completion_assurance: 'destination_credited' },
    },
    {
      ...common,
      template_key: 'starter/treasury-transfer',
      name: 'Move USDC from the wallet to the treasury',
      nodes: [sweep, stop],
      edges: [{ from: 'sweep', to: 'stop', edge_type: 'on_cancel' }],
      completion_policy: { completion_assurance: 'destination_finalized' },
    },
    ...(bridges === null ? [] : [overTheBridge(chain, bridges)]),
    ...(perp === null ? [] : atThePerpsVenue(chain, perp, { ...common, withdraw, stop })),
  ];
}

export const BRIDGE_TEMPLATE = 'starter/bridge-to-far-chain';

/**
 * Returns the template across the bridge: an allowance, a burn and a mint, each of the intent's
 * amount.
 */
function overTheBridge(chain: ChainInfo, { near, far }: Sides) {
  const { asset } = BRIDGED_ASSETS.burn;
  const node = (node_key: string, action_type: string, config: object) => ({
    node_key,
    action_type,
    node_kind: 'action',
    has_side_effect: true,
    executor_selector: { action_type, chain_family: 'evm' },
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    config: { asset, ...config },
    timeout_policy: { execution_seconds: 600 },
  });
  const burnt = (side: BridgeSide) => side.contracts.burnToken;
  const allowance = {
    chain_id: near.chainId,
    token_address: burnt(near),
    spender: near.contracts.tokenMessenger,
  };
  // Runs after a cancel; its nonce is higher than that of the burn, which may still be in flight
  // and pulls tokens.
  const reset = {
    ...node('reset', 'evm_erc20_approve', { ...allowance, amount: '0' }),
    node_kind: 'compensation',
  };
  return {
    template_key: BRIDGE_TEMPLATE,
    version: 1,
    owner: 'treasury',
    name: `Burn ${asset} on the local chain and mint it for the treasury on the far one`,
    risk_controls: { max_amount: '100000', min_amount: '1' },
    nodes: [
      node('allow', 'evm_erc20_approve', allowance),
      node('burn', 'cctp_burn', {
        source_chain_id: near.chainId,
        destination_chain_id: far.chainId,
        token_address: burnt(near),
        mint_recipient: chain.accounts.treasury.address,
        max_fee: '0.5',
        finality: 'fast',
      }),
      node('mint', 'cctp_mint', { burn_from: 'burn' }),
      reset,
    ],
    edges: [
      { from: 'allow', to: 'burn', edge_type: 'on_success' },
      { from: 'burn', to: 'mint', edge_type: 'on_success' },
      { from: 'allow', to: 'reset', edge_type: 'on_cancel' },
    ],
    completion_policy: { completion_assurance: 'destination_finalized' },
  };
}

export const PERP_TEMPLATES = {
  fromExchange: 'starter/perp-deposit-from-exchange',
  deposit: 'starter/perp-deposit',
  withdrawal: 'starter/perp-withdraw-to-treasury',
} as const;

interface Moves {
  readonly node_key: string;
  readonly node_kind: string;
  readonly action_type: string;
  readonly config?: Readonly<Record<string, unknown>>;
}
/** Parts of the other templates that the perps venue's templates share. */
interface Around {
  readonly version: number;
  readonly owner: string;
  readonly withdraw: Moves;
  readonly stop: Moves;
}

/**
 * Returns the templates from exchange and wallet into the perps venue, and from there to the
 * treasury.
 */
function atThePerpsVenue(
  chain: ChainInfo,
  perp: StackPerp,
  { withdraw, stop, version, owner }: Around,
) {
  const { venueKey: venue, asset, chainId: chain_id } = perp;
  const node = (node_key: string, action_type: string, config: object) => ({
    node_key,
    node_kind: 'action',
    action_type,
    has_side_effect: true,
    executor_selector: { action_type, provider: 'perp' },
    signer_selector: { chain_family: 'evm', profile: 'treasury' },
    config: { venue, asset, chain_id, ...config },
    timeout_policy: { execution_seconds: 600 },
  });
  const plan = (template_key: string, name: string, moves: Moves) => ({
    template_key,
    version,
    owner,
    name,
    edges: [],
    risk_controls: { max_amount: '100000', min_amount: '5' },
    nodes: [moves],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
  const into = { token_address: perp.tokenAddress, destination_address: perp.depositAddress };
  const out = { destination_address: chain.accounts.treasury.address };
  // Sends on the amount that arrived.
  const passOn = { ...into, amount_ref: 'nodes.withdraw.output.received_amount' };
  return [
    {
      ...plan(
        PERP_TEMPLATES.fromExchange,
        `Withdraw ${asset} from the paper venue and move it to the perps venue`,
        withdraw,
      ),
      nodes: [withdraw, node('deposit', 'perp_deposit', passOn), stop],
      edges: [
        { from: 'withdraw', to: 'deposit', edge_type: 'on_success' },
        { from: 'withdraw', to: 'stop', edge_type: 'on_cancel' },
      ],
    },
    plan(
      PERP_TEMPLATES.deposit,
      `Move ${asset} from the wallet to the perps venue`,
      node('move', 'perp_deposit', into),
    ),
    plan(
      PERP_TEMPLATES.withdrawal,
      `Withdraw ${asset} from the perps venue to the treasury`,
      node('move', 'perp_withdraw', out),
    ),
  ];
}
