/** What of an error reaches Temporal: its type says whether a run with it is stuck. */
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { forHistory, lookAgain, Overtaken, tryAgain } from '../../activities/failures.ts';
import { ServiceError } from '../../domain/errors.ts';
import { UNEXPECTED_FAILURE } from '../../domain/stuck-runs.ts';

const log = pino({ level: 'silent' });
const withCode = (code: string): Error => Object.assign(new Error('secret'), { code });
const typeOf = (error: unknown): unknown => {
  const failure = forHistory(error, log);
  return failure instanceof ApplicationFailure ? failure.type : null;
};

test.each([
  ['a bug', new TypeError('secret')],
  ['a missing grant', withCode('42501')],
  ['what is no error', 'secret'],
])('the message of an unexpected error stays in the log: %s', (_what, error) => {
  expect(typeOf(error)).toBe(UNEXPECTED_FAILURE);
  expect(String(forHistory(error, log))).not.toContain('secret');
});

test.each([
  ['an unreachable database', new ServiceError('dependency_unavailable'), 'ServiceError'],
  ['a write without an answer', new ServiceError('outcome_unknown'), 'ServiceError'],
  ['a full pool', new ServiceError('overloaded'), 'ServiceError'],
  ['a conflict', withCode('40P01'), 'Error'],
  ['a lost connection', withCode('57P01'), 'Error'],
])('an outage keeps its own type, and makes no run stuck: %s', (_what, error, type) => {
  expect(typeOf(error)).toBe(type);
});

test.each([lookAgain('not yet', 1), tryAgain('CODE', 'again', 1), new Overtaken()])(
  'what our own code throws to be repeated stays as it is: %s',
  (error) => {
    expect(forHistory(error, log)).toBe(error);
  },
);
