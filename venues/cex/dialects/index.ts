/** The supported exchanges, by ccxt's ids. */
import type { Dialect } from '../dialect.ts';
import { binance } from './binance.ts';

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map([['binance', binance]]);
