/** What a bridge owes is brought: the second leg goes on where nothing else starts. */
import { nextOf } from '../../../domain/decision.ts';
import { isRetryable } from '../../../domain/graph/retry.ts';
import type { WalkEdge, WalkNode } from '../../../domain/graph/walk-types.ts';
import type { LoadedMovement } from '../../../domain/messages.ts';
import { edge, node, Run } from './build.ts';

const MINT = node('mint', { brings: 'burn' });
const run = (nodes: readonly (string | WalkNode)[], edges: readonly (string | WalkEdge)[]): Run => {
  const made = new Run(
    nodes.map((each) => (typeof each === 'string' ? node(each) : each)),
    edges.map((each) => (typeof each === 'string' ? edge(each) : each)),
  );
  made.step();
  return made;
};
/** As {@link Run.cancel} leaves everything but what is owed. */
const cancelled = (made: Run): readonly string[] => {
  made.nodes = made.nodes.map((each) =>
    each.state === 'READY' && each.brings === undefined ? { ...each, state: 'CANCELLED' } : each,
  );
  made.state = 'CANCELLED';
  return made.step();
};

describe('after a cancel', () => {
  const GATED = ['burn>wait', 'wait>mint:on_manual_resume', 'burn>refund:on_cancel'];

  test('what is burnt by then is minted, whatever lies in between', () => {
    const made = run(['burn', 'wait:manual_gate', MINT, 'refund:compensation'], GATED);
    made.settle('burn', 'COMPLETED');
    expect(cancelled(made)).toEqual(['mint', 'refund']);
    made.settle('refund', 'COMPLETED');
    expect(made.ended).toBe(false);
    made.settle('mint', 'COMPLETED');
    expect([made.state, made.ended]).toEqual(['CANCELLED', true]);
  });

  test.each(['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN'] as const)(
    'a burn that is %s is waited for, and then minted',
    (state) => {
      const made = run(['burn', 'wait:manual_gate', MINT, 'refund:compensation'], GATED);
      made.set('burn', { state });
      cancelled(made);
      expect([made.at('mint').state, made.ended]).toEqual(['BLOCKED', false]);
      expect(made.settle('burn', 'COMPLETED')).toEqual(['mint', 'refund']);
    },
  );

  test('a burn that a person has looked up once more is waited for, too', () => {
    const made = run(['burn', 'wait:manual_gate', MINT, 'refund:compensation'], GATED);
    made.set('burn', { state: 'UNKNOWN' });
    cancelled(made);
    made.set('burn', { state: 'READY' });
    made.step();
    expect([made.at('mint').state, made.ended]).toEqual(['BLOCKED', false]);
    expect(made.settle('burn', 'COMPLETED')).toEqual(['mint', 'refund']);
  });

  test('a burn that is proven unsent is not minted', () => {
    const made = run(['burn', 'wait:manual_gate', MINT, 'refund:compensation'], GATED);
    made.set('burn', { state: 'OBSERVING' });
    cancelled(made);
    made.settle('burn', 'FAILED');
    expect([made.at('mint').state, made.ended]).toEqual(['SKIPPED', true]);
  });

  test('what only a cancel undoes waits for the mint that it undoes', () => {
    const made = run(['burn', MINT, 'back:compensation'], ['burn>mint', 'mint>back:on_cancel']);
    made.settle('burn', 'COMPLETED');
    made.set('mint', { state: 'BLOCKED' });
    expect(cancelled(made)).toEqual(['mint']);
    expect(made.settle('mint', 'COMPLETED')).toEqual(['back']);
  });
});

describe('beside a failure without a failure path', () => {
  const FORK = ['start>burn', 'burn>mint', 'start>other', 'mint>on'];

  test('what is burnt later is minted, and nothing behind it begins', () => {
    const made = run(['start', 'burn', MINT, 'other', 'on'], FORK);
    made.settle('start', 'COMPLETED');
    made.settle('other', 'FAILED');
    expect(made.settle('burn', 'COMPLETED')).toEqual(['mint']);
    made.settle('mint', 'COMPLETED');
    expect([made.state, made.failure, made.at('on').state]).toEqual([
      'FAILED',
      'other_failed',
      'SKIPPED',
    ]);
  });

  test('no gate holds it up', () => {
    const made = run(
      ['start', 'burn', 'wait:manual_gate', MINT, 'other'],
      ['start>burn', 'burn>wait', 'wait>mint:on_manual_resume', 'start>other'],
    );
    made.settle('start', 'COMPLETED');
    made.settle('other', 'FAILED');
    expect(made.settle('burn', 'COMPLETED')).toEqual(['mint']);
  });

  test('while nothing has failed it waits for what is before it', () => {
    const made = run(
      ['burn', 'wait:manual_gate', MINT],
      ['burn>wait', 'wait>mint:on_manual_resume'],
    );
    expect(made.settle('burn', 'COMPLETED')).toEqual([]);
    expect(made.at('mint').state).toBe('BLOCKED');
  });
});

describe('where every path to a second leg is dead', () => {
  const chosen = (text: string, condition: WalkEdge['condition']): WalkEdge =>
    edge(text, { condition_expr: `${text} is chosen`, condition });
  const looked = (others: readonly string[] = [], more: readonly string[] = []): Run => {
    const made = run(
      ['burn', 'look', MINT, 'on', ...others],
      ['burn>look', 'look>mint', 'mint>on', ...more],
    );
    made.settle('burn', 'COMPLETED');
    return made;
  };

  test('what is burnt is minted, and nothing behind it begins', () => {
    const made = looked();
    expect(made.settle('look', 'FAILED')).toEqual(['mint']);
    made.settle('mint', 'COMPLETED');
    expect([made.state, made.failure, made.at('on').state]).toEqual([
      'FAILED',
      'look_failed',
      'SKIPPED',
    ]);
    expect(made.retry('look')).toEqual(['look']);
    expect(made.settle('look', 'COMPLETED')).toEqual(['on']);
    made.settle('on', 'COMPLETED');
    expect([made.state, made.ended]).toEqual(['COMPLETED', true]);
  });

  test.each([
    [4, [], ['mint', 'on']],
    [5, ['mint'], []],
    [undefined, ['mint'], []],
  ] as const)('a history with conduct %s is decided as it was', (conduct, ready, skip) => {
    const nodes = [node('burn'), node('look'), node('ask:manual_gate'), MINT, node('on')];
    const states = ['COMPLETED', 'FAILED', 'READY', 'BLOCKED', 'BLOCKED'] as const;
    const texts = ['burn>look', 'look>mint', 'look>ask:on_failure', 'mint>on'];
    const view = {
      ...{ state: 'WAITING_MANUAL_ACTION', edges: texts.map((text) => edge(text)) },
      nodes: nodes.map((each, at) => ({ ...each, state: states[at] })),
      ...(conduct === undefined ? {} : { conduct }),
    };
    expect(nextOf(view as unknown as LoadedMovement)).toMatchObject({ ready, skip });
  });

  test('a gate may pay in its place, and nothing behind the mint does', () => {
    const made = looked(
      ['ask:manual_gate', 'pay'],
      ['look>ask:on_failure', 'ask>pay:on_manual_resume'],
    );
    expect(made.settle('look', 'FAILED')).toEqual(['mint']);
    expect(made.state).toBe('WAITING_MANUAL_ACTION');
    made.settle('mint', 'COMPLETED');
    expect(made.at('on').state).toBe('SKIPPED');
    expect(made.settle('ask', 'COMPLETED', { resumed: true })).toEqual(['pay']);
    made.settle('pay', 'COMPLETED');
    expect([made.state, made.ended]).toEqual(['COMPLETED', true]);
  });

  test('its own failure opens its gate, and is retried', () => {
    const made = looked(['ask:manual_gate'], ['look>ask:on_failure', 'mint>ask:on_failure']);
    expect(made.settle('look', 'FAILED')).toEqual(['mint']);
    made.settle('mint', 'FAILED');
    expect(made.state).toBe('WAITING_MANUAL_ACTION');
    expect(isRetryable(made.input, made.at('mint'))).toBe(true);
    expect(made.retry('mint')).toEqual(['mint']);
    made.settle('mint', 'COMPLETED');
    made.settle('ask', 'COMPLETED', { resumed: true });
    expect([made.state, made.ended]).toEqual(['COMPLETED', true]);
  });

  test.each([false, 'error'] as const)('a condition that is %s does not keep it', (condition) => {
    const made = run(['burn', MINT], [chosen('burn>mint', condition)]);
    expect(made.settle('burn', 'COMPLETED')).toEqual(['mint']);
    made.settle('mint', 'COMPLETED');
    expect(made.state).toBe(condition === false ? 'COMPLETED' : 'FAILED');
  });

  test('it waits for a burn that is at work, and is skipped where that was not sent', () => {
    const started = (): Run => {
      const made = run(
        ['start', 'burn', 'check', MINT, 'ask:manual_gate'],
        ['start>burn', 'start>check', 'check>mint', 'check>ask:on_failure'],
      );
      made.settle('start', 'COMPLETED');
      made.set('burn', { state: 'OBSERVING' });
      made.settle('check', 'FAILED');
      expect(made.at('mint').state).toBe('BLOCKED');
      return made;
    };
    expect(started().settle('burn', 'COMPLETED')).toEqual(['mint']);
    const unsent = started();
    unsent.settle('burn', 'FAILED');
    expect(unsent.at('mint').state).toBe('SKIPPED');
  });

  test('a burn between that never began is skipped with its mint', () => {
    const made = run(
      ['burn', 'look', 'again', node('last', { brings: 'again' })],
      ['burn>look', 'look>again', 'again>last'],
    );
    made.settle('burn', 'COMPLETED');
    made.settle('look', 'FAILED');
    expect(made.states()).toMatchObject({ again: 'SKIPPED', last: 'SKIPPED' });
    expect(made.state).toBe('FAILED');
  });

  const OTHER = node('other', { brings: 'burn' });

  test('of two mints the one that the plan chooses runs', () => {
    const made = run(
      ['burn', OTHER, MINT],
      [chosen('burn>other', false), chosen('burn>mint', true)],
    );
    expect(made.settle('burn', 'COMPLETED')).toEqual(['mint']);
    expect(made.at('other').state).toBe('SKIPPED');
    const neither = run(
      ['burn', OTHER, MINT],
      [chosen('burn>other', false), chosen('burn>mint', false)],
    );
    expect(neither.settle('burn', 'COMPLETED')).toEqual(['other']);
    expect(neither.at('mint').state).toBe('SKIPPED');
  });

  test('a mint for the failure of another one does not run beside it', () => {
    const made = run(['burn', MINT, OTHER], ['burn>mint', 'mint>other:on_failure']);
    made.settle('burn', 'COMPLETED');
    made.settle('mint', 'COMPLETED');
    expect([made.state, made.at('other').state]).toEqual(['COMPLETED', 'SKIPPED']);
  });
});

describe('a second leg that fails', () => {
  const TO_GATE = ['burn>mint', 'mint>ask:on_failure'];
  const failed = (edges: readonly string[] = TO_GATE): Run => {
    const pay = edges.length === 2 ? [] : ['pay'];
    const made = run(['burn', MINT, 'ask:manual_gate', ...pay], edges);
    made.settle('burn', 'COMPLETED');
    made.settle('mint', 'FAILED');
    return made;
  };

  test('is retried while the gate that it opened waits', () => {
    const made = failed();
    expect(made.at('ask').state).toBe('READY');
    expect(isRetryable(made.input, made.at('mint'))).toBe(true);
    // For any other node the path out of its failure has started.
    expect(isRetryable(made.input, { ...made.at('mint'), brings: null })).toBe(false);
  });

  test('is not taken care of by somebody who resumed a gate alone', () => {
    const made = failed();
    made.settle('ask', 'COMPLETED', { resumed: true });
    expect([made.state, made.failure]).toEqual(['FAILED', 'mint_failed']);
    expect(isRetryable(made.input, made.at('mint'))).toBe(true);
    made.retry('mint');
    made.settle('mint', 'COMPLETED');
    expect([made.state, made.ended]).toEqual(['COMPLETED', true]);
  });

  test('is over once a person had something paid in its place', () => {
    const made = failed([...TO_GATE, 'ask>pay:on_manual_resume']);
    expect(isRetryable(made.input, made.at('mint'))).toBe(true);
    made.settle('ask', 'COMPLETED', { resumed: true });
    expect(isRetryable(made.input, made.at('mint'))).toBe(false);
    made.settle('pay', 'COMPLETED');
    expect([made.state, made.failure]).toEqual(['COMPLETED', null]);
    expect(isRetryable(made.input, made.at('mint'))).toBe(false);
  });

  test('is retried in a cancelled movement, too', () => {
    const made = run(['burn', MINT, 'refund:compensation'], ['burn>mint', 'burn>refund:on_cancel']);
    made.settle('burn', 'COMPLETED');
    cancelled(made);
    made.settle('mint', 'FAILED');
    expect(isRetryable(made.input, made.at('mint'))).toBe(true);
    expect(isRetryable(made.input, { ...made.at('mint'), brings: null })).toBe(false);
  });
});
