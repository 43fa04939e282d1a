import { describe, expect, it } from '@jest/globals';
import { exceedsMax, maxAmount, parseAmountSource, resolveAmount } from '../../../domain/plan/amount.ts';

const outputs = (key: string) => (key === 'a.b' ? { received: '7.50', count: 7 } : null);

describe('resolveAmount', () => {
  it.each([
    ['nothing', {}, '10'],
    ['a reference to the intent', { amount_ref: 'intent' }, '10'],
    ['an amount', { amount: '3.10' }, '3.1'],
    ['an amount and a reference', { amount: '3', amount_ref: 'intent' }, '3'],
    ['an output, also of a key with a dot', { amount_ref: 'nodes.a.b.output.received' }, '7.5'],
    ['an output that is no decimal string', { amount_ref: 'nodes.a.b.output.count' }, null],
    ['an output that is not there', { amount_ref: 'nodes.c.output.received' }, null],
    ['a number', { amount: 3 }, null],
    ['a reference of another form', { amount_ref: 'nodes.a.state' }, null],
  ])('takes %s', (_name, config, expected) => {
    expect(resolveAmount(config, '10.0', outputs)).toBe(expected);
  });

  it('says what is wrong with a config', () => {
    expect(parseAmountSource({ amount: '1e3' })).toEqual({ kind: 'invalid', text: '"1e3"' });
    expect(parseAmountSource({ amount_ref: 7 })).toEqual({ kind: 'invalid', text: '7' });
  });
});

describe('maxAmount', () => {
  it('is the tighter of plan and node', () => {
    expect(maxAmount({}, undefined)).toBeNull();
    expect(maxAmount({ max_amount: '100' }, undefined)).toBe('100');
    expect(maxAmount({ max_amount: '100' }, { max_amount: '9' })).toBe('9');
    expect(maxAmount({ max_amount: '9' }, { max_amount: '100' })).toBe('9');
    expect(maxAmount({}, { max_amount: '9' })).toBe('9');
  });

  it('allows what equals it', () => {
    expect([exceedsMax('9', '9.0'), exceedsMax('9.000000000000000001', '9'), exceedsMax('1', null)]).toEqual([false, true, false]);
  });
});
