/** Which movements cross which lane in which direction: drawn before a run, with their plans. */
import type { StackBridges } from '../../dev/stack/bridges.ts';
import { burnAndMint, sendAndArrive } from '../support/bridge-plans.ts';
import type { Dice } from './random.ts';

export const WAYS = ['out', 'home'] as const;
export type Way = (typeof WAYS)[number];
const FINALITIES = ['fast', 'standard'] as const;

interface Crossing {
  readonly key: string;
  readonly way: Way;
  /** No other movement has it. Six digits, since more do not travel over either lane. */
  readonly amount: string;
  readonly approve_ms: number;
  movement_id: string | null;
  readonly complaints: string[];
}
/** Burns USDB on one side and mints it on the other. */
export interface UsdbLife extends Crossing {
  readonly lane: 'burn-mint';
  readonly finality: (typeof FINALITIES)[number];
}
/** Sends OMNI from one side and sees it arrive on the other. */
export interface OmniLife extends Crossing {
  readonly lane: 'bridge_c';
}
export type BridgeLife = UsdbLife | OmniLife;

/** The sides that a way leads from and to. */
export const ENDS = {
  out: ['near', 'far'],
  home: ['far', 'near'],
} as const satisfies Record<Way, readonly ['near' | 'far', 'near' | 'far']>;

/** What the run asks for, drawn before it begins; the lanes take turns. */
export function planCrossings(dice: Dice, count: number, seed: number): readonly BridgeLife[] {
  return Array.from({ length: count }, (_, serial) => {
    const crossing: Crossing = {
      key: `bridge-run-${seed}-${serial}`,
      way: dice.pick(WAYS),
      amount: `${dice.between(10, 99)}.${String(serial).padStart(5, '0')}1`,
      approve_ms: dice.between(0, 1_000),
      movement_id: null,
      complaints: [],
    };
    return serial % 2 === 0
      ? { ...crossing, lane: 'burn-mint', finality: dice.pick(FINALITIES) }
      : { ...crossing, lane: 'bridge_c' };
  });
}

export const isUsdb = (life: BridgeLife): life is UsdbLife => life.lane === 'burn-mint';
export const isOmni = (life: BridgeLife): life is OmniLife => life.lane === 'bridge_c';

export const assetOf = (life: BridgeLife): string => (isUsdb(life) ? 'USDB' : 'OMNI');
export const templateOf = (life: BridgeLife): string =>
  isUsdb(life) ? usdbTemplate(life) : omniTemplate(life);

const usdbTemplate = ({ way, finality }: Pick<UsdbLife, 'way' | 'finality'>): string =>
  `bridge-run/${way}-${finality}`;
const omniTemplate = ({ way }: Pick<OmniLife, 'way'>): string => `bridge-run/omni-${way}`;

/**
 * Plans of both lanes, both ways. Those that burn set no allowance of their own: at once they would
 * undo each other's.
 */
export function crossingTemplates(bridges: StackBridges, payee: string): readonly object[] {
  return WAYS.flatMap((way) => {
    const [source, destination] = ENDS[way];
    const ends = { from: bridges[source], to: bridges[destination], payee };
    return [
      ...FINALITIES.map((finality) =>
        burnAndMint({ key: usdbTemplate({ way, finality }), finality, allowed: true, ...ends }),
      ),
      sendAndArrive({ key: omniTemplate({ way }), ...ends }),
    ];
  });
}
