import { Run, edge, node } from './build.ts';
import { isRetryable, reopened } from '../../../domain/graph/retry.ts';
import type { WalkEdge } from '../../../domain/graph/walk-types.ts';

const run = (nodes: string, edges: (string | WalkEdge)[]): Run => {
  const made = new Run(
    nodes.split(' ').map((each) => node(each)),
    edges.map((each) => (typeof each === 'string' ? edge(each) : each)),
  );
  made.step();
  return made;
};

describe('a line', () => {
  it('completes node by node', () => {
    const line = run('a b c', ['a>b', 'b>c']);
    expect(line.state).toBe('EXECUTING');
    expect(line.settle('a', 'COMPLETED')).toEqual(['b']);
    expect(line.settle('b', 'COMPLETED')).toEqual(['c']);
    line.settle('c', 'COMPLETED');
    expect([line.state, line.ended, line.failure]).toEqual(['COMPLETED', true, null]);
  });

  it('fails with the code of the failed node and skips the rest', () => {
    const line = run('a b c', ['a>b', 'b>c']);
    line.settle('a', 'FAILED');
    expect([line.state, line.ended, line.failure]).toEqual(['FAILED', true, 'a_failed']);
    expect(line.states()).toEqual({ a: 'FAILED', b: 'SKIPPED', c: 'SKIPPED' });
  });

  it('waits for a person while a node is UNKNOWN', () => {
    const line = run('a b', ['a>b']);
    expect(line.settle('a', 'UNKNOWN')).toEqual([]);
    expect([line.state, line.ended]).toEqual(['MANUAL_INTERVENTION', false]);
    expect(line.settle('a', 'COMPLETED')).toEqual(['b']);
    expect(line.state).toBe('EXECUTING');
  });
});

describe('failures', () => {
  it('are handled when an on_failure node completes', () => {
    const plan = run('a b h', ['a>b', 'a>h:on_failure']);
    expect(plan.settle('a', 'FAILED')).toEqual(['h']);
    expect(plan.state).toBe('EXECUTING');
    plan.settle('h', 'COMPLETED');
    expect([plan.state, plan.failure, plan.states()['b']]).toEqual(['COMPLETED', null, 'SKIPPED']);
  });

  it('of a node whose success was paid on open no other way to pay', () => {
    const plan = run('a b h', ['a>b', 'a>h:on_failure']);
    plan.settle('a', 'COMPLETED');
    plan.settle('b', 'COMPLETED');
    expect(plan.states()['h']).toBe('SKIPPED');
    // As an allowance that was reset fails when it runs anew.
    const failed = (state: 'COMPLETED' | 'SKIPPED'): readonly string[] =>
      reopened(
        {
          ...plan.input,
          nodes: plan.input.nodes.map((each) => ({
            ...each,
            state:
              { a: 'FAILED' as const, b: state, h: 'SKIPPED' as const }[each.node_key] ??
              each.state,
          })),
        },
        'a',
      );
    expect(failed('COMPLETED')).toEqual([]);
    expect(failed('SKIPPED')).toEqual(['b', 'h']);
  });

  it('are not handled when the handler fails, and the first code stands', () => {
    const plan = run('a h', ['a>h:on_failure']);
    plan.settle('a', 'FAILED');
    plan.settle('h', 'FAILED');
    expect([plan.state, plan.failure]).toEqual(['FAILED', 'a_failed']);
  });

  it('are handled through a handler of the handler', () => {
    const plan = run('a h i', ['a>h:on_failure', 'h>i:on_failure']);
    plan.settle('a', 'FAILED');
    plan.settle('h', 'FAILED');
    plan.settle('i', 'COMPLETED');
    expect(plan.state).toBe('COMPLETED');
  });

  it('stay failures when only a compensation ran', () => {
    const plan = run('a c:compensation', ['a>c:on_failure']);
    expect(plan.settle('a', 'FAILED')).toEqual(['c']);
    plan.settle('c', 'COMPLETED');
    expect([plan.state, plan.failure]).toEqual(['FAILED', 'a_failed']);
  });

  it('stay failures when only a post-action took them', () => {
    const plan = run('a p:post_action', ['a>p:on_failure']);
    expect(plan.settle('a', 'FAILED')).toEqual(['p']);
    plan.settle('p', 'COMPLETED');
    expect([plan.state, plan.failure]).toEqual(['FAILED', 'a_failed']);
  });

  it('start nothing new, but let running branches settle', () => {
    const plan = run('r a b c', ['r>a', 'r>b', 'b>c']);
    plan.settle('r', 'COMPLETED');
    plan.settle('a', 'FAILED');
    expect([plan.state, plan.ended]).toEqual(['EXECUTING', false]);
    plan.settle('b', 'COMPLETED');
    expect([plan.state, plan.failure, plan.states()['c']]).toEqual([
      'FAILED',
      'a_failed',
      'SKIPPED',
    ]);
  });

  it('name the first one, also where its handler was never started', () => {
    const plan = run('r a b h j', ['r>a', 'r>b', 'a>h:on_failure', 'j>h', 'r>j']);
    plan.settle('r', 'COMPLETED');
    plan.settle('a', 'FAILED');
    plan.settle('b', 'FAILED');
    plan.settle('j', 'COMPLETED');
    expect([plan.state, plan.failure, plan.states()['h']]).toEqual([
      'FAILED',
      'a_failed',
      'SKIPPED',
    ]);
  });

  it('by time-out take the on_timeout edge, or on_failure where there is none', () => {
    const both = run('a t f', ['a>t:on_timeout', 'a>f:on_failure']);
    expect(both.settle('a', 'TIMED_OUT')).toEqual(['t']);
    const one = run('a f', ['a>f:on_failure']);
    expect(one.settle('a', 'TIMED_OUT')).toEqual(['f']);
    const other = run('a t f', ['a>t:on_timeout', 'a>f:on_failure']);
    expect(other.settle('a', 'FAILED')).toEqual(['f']);
  });
});

describe('gates', () => {
  it('wait, and fire on_success and on_manual_resume together after a resume', () => {
    const plan = run('a g:manual_gate b c', ['a>g', 'g>b', 'g>c:on_manual_resume']);
    expect(plan.settle('a', 'COMPLETED')).toEqual([]);
    expect(plan.state).toBe('WAITING_MANUAL_ACTION');
    expect(plan.settle('g', 'COMPLETED', { resumed: true })).toEqual(['b', 'c']);
    expect(plan.state).toBe('EXECUTING');
  });

  it('do not hold up other branches', () => {
    const plan = run('a g:manual_gate b c', ['a>g', 'a>b', 'b>c']);
    expect(plan.settle('a', 'COMPLETED')).toEqual(['b']);
    expect(plan.settle('b', 'COMPLETED')).toEqual(['c']);
    expect(plan.state).toBe('WAITING_MANUAL_ACTION');
  });

  it('leave on_manual_resume dead without a resume', () => {
    const plan = run('a b', ['a>b:on_manual_resume']);
    plan.settle('a', 'COMPLETED');
    expect([plan.state, plan.states()['b']]).toEqual(['COMPLETED', 'SKIPPED']);
  });
});

describe('cancel', () => {
  it('runs what on_cancel leads to where the effect landed', () => {
    const plan = run('a b c:compensation', ['a>b', 'a>c:on_cancel']);
    plan.settle('a', 'COMPLETED');
    expect(plan.cancel()).toEqual(['c']);
    plan.settle('c', 'COMPLETED');
    expect([plan.state, plan.ended, plan.states()]).toEqual([
      'CANCELLED',
      true,
      { a: 'COMPLETED', b: 'CANCELLED', c: 'COMPLETED' },
    ]);
  });

  it('waits for what is in flight and skips the compensation when nothing landed', () => {
    const plan = run('a c:compensation', ['a>c:on_cancel']);
    plan.set('a', { state: 'SUBMITTING' });
    expect([plan.cancel(), plan.ended]).toEqual([['a'], false]);
    plan.settle('a', 'FAILED');
    expect([plan.state, plan.ended, plan.states()['c']]).toEqual(['CANCELLED', true, 'SKIPPED']);
  });

  it('chains, and higher priority wins', () => {
    const plan = run('a b c d', [
      'a>b:on_cancel',
      edge('a>c:on_cancel', { priority: 1 }),
      'c>d:on_cancel',
    ]);
    plan.settle('a', 'COMPLETED');
    // Without a cancel the movement would be over: this one is cancelled just before.
    const cancelled = run('a b c d', [
      'a>b:on_cancel',
      edge('a>c:on_cancel', { priority: 1 }),
      'c>d:on_cancel',
    ]);
    cancelled.set('a', { state: 'COMPLETED' });
    expect(cancelled.cancel()).toEqual(['c']);
    expect(cancelled.settle('c', 'COMPLETED')).toEqual(['d']);
    cancelled.settle('d', 'COMPLETED');
    expect(cancelled.states()['b']).toBe('SKIPPED');
    expect(plan.states()).toMatchObject({ b: 'SKIPPED', c: 'SKIPPED', d: 'SKIPPED' });
  });

  it('passes over a gate that can no longer be resumed', () => {
    const plan = run('a g:manual_gate', ['a>g:on_cancel']);
    plan.set('a', { state: 'COMPLETED' });
    plan.cancel();
    expect([plan.ended, plan.states()['g']]).toEqual([true, 'SKIPPED']);
  });

  it('leaves a node that failure and cancel share out of the way of a normal end', () => {
    const edges = ['a>b', 'a>x:on_failure', 'a>x:on_cancel', 'x>j', 'b>j'];
    const plan = run('a b x j', edges);
    plan.settle('a', 'COMPLETED');
    expect(plan.states()['x']).toBe('BLOCKED');
    expect(plan.settle('b', 'COMPLETED')).toEqual(['j']);
    plan.settle('j', 'COMPLETED');
    expect([plan.state, plan.states()['x']]).toEqual(['COMPLETED', 'SKIPPED']);
  });
});

describe('a compensation that failed', () => {
  const edges = ['a>c', 'a>b', 'a>c:on_cancel', 'c>pay:on_failure'];
  const running = (): Run => {
    const plan = run('a c:compensation pay b', edges);
    plan.settle('a', 'COMPLETED');
    return plan;
  };

  it('is retried after a cancel while nothing was done in its place', () => {
    const plan = running();
    plan.cancel();
    plan.settle('c', 'FAILED');
    expect([plan.state, isRetryable(plan.input, plan.at('c'))]).toEqual(['CANCELLED', true]);
  });

  it('stays failed once its way out has paid, however soon a cancel follows', () => {
    const plan = running();
    expect(plan.settle('c', 'FAILED')).toContain('pay');
    plan.settle('pay', 'COMPLETED');
    expect(isRetryable(plan.input, plan.at('c'))).toBe(false);
    plan.cancel();
    expect([plan.state, isRetryable(plan.input, plan.at('c'))]).toEqual(['CANCELLED', false]);
  });
});

describe('post-actions', () => {
  it('start when all others have settled and never change the outcome', () => {
    const plan = run('a b p:post_action', ['a>b', 'a>p']);
    expect(plan.settle('a', 'COMPLETED')).toEqual(['b']);
    expect(plan.settle('b', 'COMPLETED')).toEqual(['p']);
    plan.settle('p', 'FAILED');
    expect([plan.state, plan.failure]).toEqual(['COMPLETED', null]);
  });
});

describe('joins', () => {
  it('wait for every edge of a group and need one that fired', () => {
    const plan = run('r a b j', ['r>a', 'r>b', 'a>j', 'b>j']);
    plan.settle('r', 'COMPLETED');
    expect(plan.settle('a', 'COMPLETED')).toEqual(['b']);
    expect(plan.settle('b', 'COMPLETED')).toEqual(['j']);
  });

  it('run once when several groups are satisfied', () => {
    const plan = run('r a b j', [
      'r>a',
      'r>b',
      edge('a>j', { join_key: 'x' }),
      edge('b>j', { join_key: 'y' }),
    ]);
    plan.settle('r', 'COMPLETED');
    expect(plan.settle('a', 'COMPLETED')).toEqual(['b', 'j']);
    plan.settle('j', 'COMPLETED');
    plan.settle('b', 'COMPLETED');
    expect([plan.state, plan.started]).toEqual(['COMPLETED', ['r', 'a', 'b', 'j']]);
  });

  it('go on where one way is dead', () => {
    const plan = run('a h b j', ['a>b', 'a>h:on_failure', 'h>j', 'b>j']);
    plan.settle('a', 'FAILED');
    expect(plan.settle('h', 'COMPLETED')).toEqual(['j']);
    expect(plan.states()['b']).toBe('SKIPPED');
  });
});

describe('conditions and priorities', () => {
  it('let the highest priority whose condition holds fire, equals together', () => {
    const edges = [
      edge('a>b', { priority: 9, condition_expr: 'x', condition: false }),
      edge('a>c', { priority: 5 }),
      edge('a>d', { priority: 5, condition_expr: 'y', condition: true }),
      edge('a>e', { priority: 1 }),
    ];
    const plan = run('a b c d e', edges);
    expect(plan.settle('a', 'COMPLETED')).toEqual(['c', 'd']);
    expect(plan.states()).toMatchObject({ b: 'SKIPPED', e: 'SKIPPED' });
  });

  it('fail the movement when a condition cannot be evaluated, however its source ended', () => {
    const completed = run('a b', [edge('a>b', { condition_expr: 'x', condition: 'error' })]);
    completed.settle('a', 'COMPLETED');
    expect([completed.state, completed.failure]).toEqual(['FAILED', 'CONDITION_ERROR']);
    const failed = run('a b h', [
      edge('a>b:on_failure', { condition_expr: 'x', condition: 'error' }),
      'a>h:on_failure',
    ]);
    failed.settle('a', 'FAILED');
    expect([failed.state, failed.failure, failed.states()['h']]).toEqual([
      'FAILED',
      'CONDITION_ERROR',
      'SKIPPED',
    ]);
  });
});

it('ignores the error of a condition that an earlier attempt has left on another way out', () => {
  const plan = run('a b h', [
    'a>b',
    edge('a>h:on_failure', { condition_expr: 'x', condition: 'error' }),
  ]);
  plan.settle('a', 'FAILED');
  expect(plan.failure).toBe('CONDITION_ERROR');
  expect(plan.retry('a')).toEqual(['a']);
  expect(plan.settle('a', 'COMPLETED')).toEqual(['b']);
  plan.settle('b', 'COMPLETED');
  expect([plan.state, plan.failure]).toEqual(['COMPLETED', null]);
});

it('judges a ladder of failed handlers in no more than a moment', () => {
  const layers = 60;
  const nodes = Array.from({ length: layers }, (_, index) => [`a${index}`, `b${index}`]).flat();
  const edges = Array.from({ length: layers - 1 }, (_, index) =>
    ['a', 'b'].flatMap((from) =>
      ['a', 'b'].map((to) => edge(`${from}${index}>${to}${index + 1}:on_failure`)),
    ),
  ).flat();
  const plan = new Run(
    nodes.map((each) => node(each)),
    edges,
  );
  let running = plan.step();
  for (let key = running[0]; key !== undefined; key = running[0])
    running = plan.settle(key, 'FAILED');
  expect([plan.state, plan.failure]).toEqual(['FAILED', 'a0_failed']);
});
