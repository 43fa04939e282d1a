/** The supported exchanges, keyed by ccxt's id of the exchange. */
import type { Dialect } from '../dialect.ts';
import { binance } from './binance.ts';

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map([['binance', binance]]);
