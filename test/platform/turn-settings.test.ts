/** The settings of whose turn it is: what is taken, and what stops the start. */
import { ConfigError, readConfig } from '../../platform/config.ts';

const BASE = { SVC_DATABASE_URL: 'postgresql://localhost/x', SVC_AUTH_ENABLED: 'false' };

function faults(settings: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig({ ...BASE, ...settings });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
const shares = (csv: string) =>
  readConfig({ ...BASE, SVC_STRATEGY_SHARES_CSV: csv }).strategyShares;
const priorities = (csv: string) =>
  readConfig({ ...BASE, SVC_STRATEGY_PRIORITIES_CSV: csv }).strategyPriorities;

test('unset and empty, no strategy has a number', () => {
  for (const settings of [{}, { SVC_STRATEGY_SHARES_CSV: '', SVC_STRATEGY_PRIORITIES_CSV: '' }]) {
    const { strategyShares, strategyPriorities } = readConfig({ ...BASE, ...settings });
    expect([strategyShares.size, strategyPriorities.size]).toEqual([0, 0]);
  }
});

test('weights and priorities are read, the bounds included', () => {
  expect([...shares(' *=1, basis=0.001 ,carry trade=1000,a=b=2.5,')]).toEqual([
    ['*', 1],
    ['basis', 0.001],
    ['carry trade', 1_000],
    ['a=b', 2.5],
  ]);
  expect([...priorities('basis=1,*=5')]).toEqual([
    ['basis', 1],
    ['*', 5],
  ]);
});

const NO_SHARES = ['basis', 'basis=', '=2', 'b=0', 'b=0.0001', 'b=1000.001', 'b=-1', 'b=1e2'];
test.each(NO_SHARES)('the share %s stops the start, and says what to write', (entry) => {
  const what = 'write <strategy>=<number>, with a weight from 0.001 to 1000';
  expect(faults({ SVC_STRATEGY_SHARES_CSV: `a=1,${entry}` })).toEqual([
    `SVC_STRATEGY_SHARES_CSV: "${entry}": ${what}; * stands for every other strategy`,
  ]);
});

const NO_PRIORITIES = ['basis', 'b=0', 'b=6', 'b=1.5', 'b=10', 'b=-1'];
test.each(NO_PRIORITIES)('the priority %s stops the start', (entry) => {
  expect(faults({ SVC_STRATEGY_PRIORITIES_CSV: entry })).toEqual([
    expect.stringContaining('with a priority from 1 (first) to 5 (last)'),
  ]);
});

test('a strategy that is named twice, and a name that none can have, stop the start', () => {
  expect(faults({ SVC_STRATEGY_SHARES_CSV: 'a=1,b=2,a=3' })).toEqual([
    'SVC_STRATEGY_SHARES_CSV: "a=3": this strategy has an entry already; keep one of them',
  ]);
  expect(faults({ SVC_STRATEGY_PRIORITIES_CSV: `${'s'.repeat(129)}=1` })).toEqual([
    expect.stringContaining('no strategy has a name of more than 128 characters'),
  ]);
});

test('every faulty entry is named at once', () => {
  const wrong = { SVC_STRATEGY_SHARES_CSV: 'a=0,b=1,c', SVC_STRATEGY_PRIORITIES_CSV: 'd=9' };
  expect(faults(wrong)).toHaveLength(3);
});
