/**
 * How each known chain becomes final, as data. Venue entries are checked against it
 * (`domain/chains/finality.ts`), and docs/venues.md is generated from it (`npm run docs:tables`).
 * Each row has a source. Ages are rough values for people, from those sources; no code waits for
 * them.
 */

/**
 * `finalized_tag`: the chain endpoint reports the final block by its block tag. `confirmations`:
 * blocks are counted.
 */
export const FINALITY_READS = ['finalized_tag', 'confirmations'] as const;
export type FinalityRead = (typeof FINALITY_READS)[number];

export interface FinalitySource {
  readonly title: string;
  readonly url: string;
  /** The statement that the table uses. */
  readonly says: string;
}

interface Row {
  readonly chain_id: number;
  readonly name: string;
  /** Typical time from a block until it is final; null if the chain publishes none. */
  readonly typical_age_seconds: number | null;
  /** When a block counts as final on this chain. */
  readonly meaning: string;
  /** True for a chain on the developer's own machine: its venue entry may choose any finality. */
  readonly development?: true;
  readonly sources: readonly [FinalitySource, ...FinalitySource[]];
}

export type KnownChain = Row &
  (
    | { readonly read: 'finalized_tag' }
    /** `confirmations`: number of blocks, including the transaction's own block. */
    | { readonly read: 'confirmations'; readonly confirmations: number }
  );

const ETHEREUM_POS = {
  title: 'ethereum.org: Proof-of-stake',
  url: 'https://ethereum.org/en/developers/docs/consensus-mechanisms/pos/',
  says: 'a checkpoint is final once two thirds of the stake have voted for it and the next one',
} as const;
const EXECUTION_APIS = {
  title: 'Ethereum execution APIs: block tags',
  url: 'https://github.com/ethereum/execution-apis/blob/main/src/schemas/block.yaml',
  says: '`finalized` is the newest block that is reorganised by nothing short of people',
} as const;
const OP_STACK = {
  title: 'OP Stack: Transaction finality',
  url: 'https://github.com/ethereum-optimism/docs/blob/1186141503a583385f8d03ffde39d97aba3f73c3/pages/stack/transactions/transaction-finality.mdx',
  says: 'final once the Ethereum block with its batch is, mostly after 15 to 30 minutes',
} as const;
const ARBITRUM = {
  title: 'Arbitrum: Finality and chain reorganizations',
  url: 'https://docs.arbitrum.io/how-arbitrum-works/reference/finality-and-reorgs',
  says: 'One and Nova always have the tag; final once the Ethereum block with its batch is',
} as const;
const POLYGON = {
  title: 'Polygon PoS: Finality',
  url: 'https://docs.polygon.technology/pos/concepts/finality/finality',
  says: 'milestones make blocks final within 2 to 5 seconds, and the tag tells the newest',
} as const;
const CHAINSTACK = {
  title: 'Chainstack: Ethereum fast confirmation and the safe block tag',
  url: 'https://docs.chainstack.com/docs/ethereum-fast-confirmation',
  says: '`finalized` trails the newest block by two to three epochs',
} as const;

/**
 * Cites the confirmations that Chainlink's bridge waits for: a second source for method and time.
 */
const ccip = (says: string): FinalitySource => ({
  title: 'Chainlink CCIP: Finality by blockchain',
  url: 'https://github.com/smartcontractkit/documentation/blob/04b4a3ebc672f6db1683bd952fccf530f3b766fa/src/content/ccip/ccip-execution-latency.mdx',
  says,
});

/** Cites the confirmations that Circle waits for. */
const circle = (says: string): FinalitySource => ({
  title: 'Circle CCTP: Required block confirmations',
  url: 'https://developers.circle.com/cctp/required-block-confirmations',
  says,
});

const BATCH_IS_FINAL = 'the Ethereum block that carries its batch is final';

/** In order of chain id, each chain once. */
export const KNOWN_CHAINS: readonly KnownChain[] = [
  {
    chain_id: 1,
    name: 'Ethereum',
    read: 'finalized_tag',
    typical_age_seconds: 900,
    meaning: 'two epochs of votes by two thirds of the stake',
    sources: [ETHEREUM_POS, EXECUTION_APIS, ccip('read by the tag, 15 minutes')],
  },
  {
    chain_id: 10,
    name: 'OP Mainnet',
    read: 'finalized_tag',
    typical_age_seconds: 1_200,
    meaning: BATCH_IS_FINAL,
    sources: [OP_STACK, ccip('read by the tag, 20 minutes')],
  },
  {
    chain_id: 56,
    name: 'BNB Smart Chain',
    read: 'finalized_tag',
    typical_age_seconds: 5,
    meaning: 'fast finality: two thirds of the validators have voted for it',
    sources: [
      {
        title: 'BNB Chain: BSC API list, Finality API',
        url: 'https://docs.bnbchain.org/bnb-smart-chain/developers/json_rpc/bsc-api-list/',
        says: 'the tag tells the newest final block; block n is final by block n+2 as a rule',
      },
      ccip('read by the tag, 5 seconds'),
    ],
  },
  {
    chain_id: 100,
    name: 'Gnosis',
    read: 'finalized_tag',
    typical_age_seconds: 180,
    meaning: 'two epochs of 16 slots of 5 seconds',
    sources: [
      {
        title: 'Gnosis Chain: Mainnet',
        url: 'https://docs.gnosischain.com/about/networks/mainnet',
        says: 'slots of 5 seconds, epochs of 16 slots, final after 2.7 minutes',
      },
      ccip('read by the tag, 3 minutes'),
    ],
  },
  {
    chain_id: 130,
    name: 'Unichain',
    read: 'finalized_tag',
    typical_age_seconds: 1_440,
    meaning: BATCH_IS_FINAL,
    sources: [
      circle('waits for the Ethereum block of the batch, some 65 blocks'),
      ccip('read by the tag, 24 minutes'),
    ],
  },
  {
    chain_id: 137,
    name: 'Polygon PoS',
    read: 'finalized_tag',
    typical_age_seconds: 5,
    meaning: 'a milestone that two thirds of the validators have voted for',
    sources: [POLYGON, ccip('read by the tag')],
  },
  {
    chain_id: 146,
    name: 'Sonic',
    read: 'confirmations',
    confirmations: 10,
    typical_age_seconds: 7,
    meaning: 'ten blocks, the larger of two counts; its tag is not relied on',
    sources: [ccip('counted, 10 blocks, 7 seconds'), circle('waits for 1 block')],
  },
  {
    chain_id: 480,
    name: 'World Chain',
    read: 'finalized_tag',
    typical_age_seconds: 2_400,
    meaning: BATCH_IS_FINAL,
    sources: [
      circle('waits for the Ethereum block of the batch, some 65 blocks'),
      ccip('read by the tag, 40 minutes'),
    ],
  },
  {
    chain_id: 1_329,
    name: 'Sei',
    read: 'finalized_tag',
    typical_age_seconds: 1,
    meaning: 'every committed block: the tag tells the newest block',
    sources: [
      {
        title: 'Sei: Finality and Block Tags',
        url: 'https://docs.sei.io/evm/evm-parity/finality',
        says: 'a committed block is final at once, and all tags tell the same one',
      },
      ccip('read by the tag, 1 second'),
    ],
  },
  {
    chain_id: 8_453,
    name: 'Base',
    read: 'finalized_tag',
    typical_age_seconds: 1_200,
    meaning: BATCH_IS_FINAL,
    sources: [
      {
        title: 'Base: Transaction Finality',
        url: 'https://github.com/base/docs/blob/164b5463163df3a3871ee3828218d545631a939c/docs/base-chain/network-information/transaction-finality.mdx',
        says: 'the batch is older than two epochs after some 20 minutes',
      },
      ccip('read by the tag, 18 minutes'),
    ],
  },
  {
    chain_id: 31_337,
    name: 'Anvil',
    read: 'finalized_tag',
    typical_age_seconds: null,
    development: true,
    meaning: 'two epochs of as many blocks as it was started with; nothing that is worth anything',
    sources: [
      {
        title: 'Foundry: Anvil, DEFAULT_SLOTS_IN_AN_EPOCH',
        url: 'https://foundry-rs.github.io/foundry/anvil/config/constant.DEFAULT_SLOTS_IN_AN_EPOCH.html',
        says: 'its tags `safe` and `finalized` go by slots in an epoch, 32 by default',
      },
    ],
  },
  {
    chain_id: 42_161,
    name: 'Arbitrum One',
    read: 'finalized_tag',
    typical_age_seconds: 1_020,
    meaning: BATCH_IS_FINAL,
    sources: [ARBITRUM, ccip('read by the tag, 17 minutes')],
  },
  {
    chain_id: 42_170,
    name: 'Arbitrum Nova',
    read: 'finalized_tag',
    typical_age_seconds: 1_020,
    meaning: BATCH_IS_FINAL,
    sources: [ARBITRUM],
  },
  {
    chain_id: 42_220,
    name: 'Celo',
    read: 'finalized_tag',
    typical_age_seconds: 1_200,
    meaning: BATCH_IS_FINAL,
    sources: [
      {
        title: 'Celo: Finality',
        url: 'https://docs.celo.org/specs/finality',
        says: 'as on the OP Stack: a final block comes from final blocks of Ethereum',
      },
      OP_STACK,
    ],
  },
  {
    chain_id: 43_114,
    name: 'Avalanche C-Chain',
    read: 'finalized_tag',
    typical_age_seconds: 1,
    meaning: 'every accepted block',
    sources: [
      {
        title: 'Avalanche: Exchange Integration, Determining Finality',
        url: 'https://build.avax.network/docs/primary-network/exchange-integration',
        says: 'final after about a second; nodes answer of final blocks only',
      },
      ccip('read by the tag, less than a second'),
    ],
  },
  {
    chain_id: 57_073,
    name: 'Ink',
    read: 'finalized_tag',
    typical_age_seconds: 7_200,
    meaning: BATCH_IS_FINAL,
    sources: [
      ccip('read by the tag, 2 hours'),
      circle('waits for the Ethereum block of the batch, some 30 minutes'),
    ],
  },
  {
    chain_id: 59_144,
    name: 'Linea',
    read: 'finalized_tag',
    typical_age_seconds: 6_000,
    meaning: 'the proof of its batch stands in a final block of Ethereum',
    sources: [
      {
        title: 'Linea: Transaction finality',
        url: 'https://docs.linea.build/network/overview/transaction-finality',
        says: 'final with the Ethereum block of the proof: median 100 minutes, at most 16 hours',
      },
      {
        title: 'Linea: Retrieve finalized L2 blocks',
        url: 'https://docs.linea.build/network/how-to/finalized-block',
        says: 'the tag tells the newest such block',
      },
    ],
  },
  {
    chain_id: 80_002,
    name: 'Polygon Amoy',
    read: 'finalized_tag',
    typical_age_seconds: 5,
    meaning: 'a milestone, as on Polygon PoS',
    sources: [POLYGON],
  },
  {
    chain_id: 534_352,
    name: 'Scroll',
    read: 'finalized_tag',
    typical_age_seconds: 3_600,
    meaning: 'the proof of its batch was verified on Ethereum',
    sources: [
      {
        title: 'Scroll: Transactions, in Chinese',
        url: 'https://docs.scroll.io/zh/technology/chain/transactions',
        says: 'final once the proof of the batch was verified on Ethereum',
      },
      ccip('read by the tag, 1 hour'),
    ],
  },
  {
    chain_id: 560_048,
    name: 'Hoodi',
    read: 'finalized_tag',
    typical_age_seconds: 960,
    meaning: 'two epochs, as on Ethereum',
    sources: [CHAINSTACK, EXECUTION_APIS],
  },
  {
    chain_id: 11_155_111,
    name: 'Sepolia',
    read: 'finalized_tag',
    typical_age_seconds: 960,
    meaning: 'two epochs, as on Ethereum',
    sources: [CHAINSTACK, EXECUTION_APIS],
  },
];

/** Returns the row of a chain; undefined for an unknown chain. */
export function knownChain(chainId: number): KnownChain | undefined {
  return KNOWN_CHAINS.find(({ chain_id }) => chain_id === chainId);
}
