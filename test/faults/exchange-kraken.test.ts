/** Twenty movements out of this exchange, with real processes, under faults of the exchange. */
import { testUnderFaults } from '../support/exchange-under-faults.ts';

testUnderFaults('kraken');
