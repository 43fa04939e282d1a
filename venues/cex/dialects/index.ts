/** The supported exchanges, keyed by ccxt's id of the exchange. */
import type { Dialect } from '../dialect.ts';
import { binance } from './binance/dialect.ts';
import { bybit } from './bybit/dialect.ts';
import { coinbase } from './coinbase/dialect.ts';
import { kraken } from './kraken/dialect.ts';
import { okx } from './okx/dialect.ts';

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['binance', binance],
  ['bybit', bybit],
  ['coinbase', coinbase],
  ['kraken', kraken],
  ['okx', okx],
]);
