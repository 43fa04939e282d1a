/** The formats of the local exchange, one for each dialect. */
import type { Format } from '../format.ts';
import { binance } from './binance.ts';
import { bybit } from './bybit.ts';
import { coinbase } from './coinbase.ts';
import { kraken } from './kraken.ts';
import { okx } from './okx.ts';

export const FORMATS: readonly Format[] = [binance, bybit, coinbase, kraken, okx];
