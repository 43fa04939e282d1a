import { EXECUTION_STATES, EXECUTOR_PHASES, ExecutorFault } from '../../domain/executor.ts';
import {
  LEGAL_STATES,
  executionContextSchema,
  parseResult,
  submitBodySchema,
} from '../../executors/protocol.ts';
import { contextOf } from './fake-server.ts';

const pairs = EXECUTOR_PHASES.flatMap((phase) =>
  EXECUTION_STATES.map((state) => ({ phase, state })),
);

describe('parseResult', () => {
  test.each(pairs)(
    '$phase and $state go together exactly as the table says',
    ({ phase, state }) => {
      const legal = LEGAL_STATES[phase].some((one) => one === state);
      const parse = () => parseResult(phase, { next_state: state }).next_state;
      if (legal) expect(EXECUTION_STATES).toContain(parse());
      else
        expect(parse).toThrow(
          expect.objectContaining({ kind: 'protocol', code: 'EXECUTOR_PROTOCOL_ERROR' }),
        );
    },
  );

  test('that nothing landed, and that it is unknown, are believed of recover alone', () => {
    for (const phase of EXECUTOR_PHASES.filter((one) => one !== 'recover')) {
      expect(LEGAL_STATES[phase]).not.toContain('READY');
      expect(LEGAL_STATES[phase]).not.toContain('UNKNOWN');
    }
  });

  const wait = {
    next_state: 'READY',
    error_code: 'VENUE_SUSPENDED',
    error_message: 'closed until noon',
    retry_after_seconds: 30,
  } as const;

  test.each(['VENUE_SUSPENDED', 'WITHDRAWAL_QUOTA_EXHAUSTED'])(
    'preflight and prepare may make their node wait: %s',
    (error_code) => {
      for (const phase of ['preflight', 'prepare'] as const)
        expect(parseResult(phase, { ...wait, error_code })).toEqual({ ...wait, error_code });
    },
  );

  test.each([
    ['another code', { error_code: 'MAINTENANCE' }],
    ['a code of the service', { error_code: 'LANE_BLOCKED' }],
    ['no code', { error_code: null }],
    ['no message', { error_message: null }],
    ['a blank message', { error_message: ' ' }],
  ])('READY with %s is a fault of preflight and prepare', (_name, more) => {
    for (const phase of ['preflight', 'prepare'] as const)
      expect(() => parseResult(phase, { ...wait, ...more })).toThrow(
        expect.objectContaining({ kind: 'protocol', code: 'EXECUTOR_PROTOCOL_ERROR' }),
      );
  });

  test.each(['submit', 'observe', 'cancel'] as const)('%s may not make a node wait', (phase) => {
    expect(() => parseResult(phase, wait)).toThrow(
      expect.objectContaining({ kind: 'protocol', code: 'EXECUTOR_PROTOCOL_ERROR' }),
    );
  });

  test('nothing but a send completes a node that sends: preflight and prepare never do', () => {
    for (const phase of ['preflight', 'prepare'] as const) {
      for (const next_state of ['SUBMITTED', 'OBSERVING', 'COMPLETED']) {
        expect(() => parseResult(phase, { next_state })).toThrow(
          expect.objectContaining({ code: 'EXECUTOR_PROTOCOL_ERROR' }),
        );
      }
    }
  });

  test('a SUBMITTING answer to submit means accepted and reads as SUBMITTED', () => {
    expect(parseResult('submit', { next_state: 'SUBMITTING', external_ref: 'x' })).toEqual({
      next_state: 'SUBMITTED',
      external_ref: 'x',
    });
    expect(parseResult('recover', { next_state: 'SUBMITTING' }).next_state).toBe('SUBMITTED');
    expect(parseResult('prepare', { next_state: 'SUBMITTING' }).next_state).toBe('SUBMITTING');
  });

  test('unknown keys are dropped and null fields count as absent', () => {
    const answer = {
      next_state: 'COMPLETED',
      output: { fee: null },
      external_ref: null,
      surprise: 1,
    };
    expect(parseResult('observe', answer)).toEqual({
      next_state: 'COMPLETED',
      output: { fee: null },
    });
  });

  test('only a prepare that goes on may ask for a signature', () => {
    const sign_request = { kind: 'evm_transaction', payload: { to: '0x1' } };
    expect(parseResult('prepare', { next_state: 'SUBMITTING', sign_request })).toHaveProperty(
      'sign_request',
      sign_request,
    );
    expect(
      parseResult('prepare', { next_state: 'FAILED', error_code: 'X', sign_request }),
    ).not.toHaveProperty('sign_request');
    expect(parseResult('submit', { next_state: 'SUBMITTED', sign_request })).not.toHaveProperty(
      'sign_request',
    );
  });

  test('a FAILED without a code gets one, so that no failure stands without a reason', () => {
    expect(parseResult('submit', { next_state: 'FAILED' })).toEqual({
      next_state: 'FAILED',
      error_code: 'EXECUTOR_REJECTED',
    });
  });

  test.each([
    'TRANSACTION_CANCELLED',
    'LANE_STUCK',
    'LANE_BLOCKED',
    'NODE_TIMED_OUT',
    'ABANDONED',
    'SEND_UNDER_WAY',
    'SEND_LANE_TAKEN',
    'RESTORED_NODE_UNASKED',
    'RESOLVED_AS_FAILED',
    'CONDITION_ERROR',
    'ALREADY_CLAIMED',
    'CLAIM_MISSING',
  ])('an executor cannot say %s, by which the service decides edges and alarms', (error_code) => {
    expect(parseResult('recover', { next_state: 'FAILED', error_code })).toEqual({
      next_state: 'FAILED',
      error_code: `EXECUTOR_${error_code}`,
    });
  });

  test('a long message is cut and does not make the outcome unknown', () => {
    const result = parseResult('submit', {
      next_state: 'FAILED',
      error_code: 'X',
      error_message: `a\0${'b'.repeat(9_000)}`,
    });
    expect(result.error_message).toHaveLength(2_000);
    expect(result.error_message).not.toContain('\0');
  });

  test('a wait of more than a day is cut to a day', () => {
    expect(
      parseResult('observe', { next_state: 'OBSERVING', retry_after_seconds: 1e9 })
        .retry_after_seconds,
    ).toBe(86_400);
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an array', [{ next_state: 'COMPLETED' }]],
    ['a string', 'COMPLETED'],
    ['no state', { output: {} }],
    ['a state in lower case', { next_state: 'completed' }],
    ['an unknown state', { next_state: 'DONE' }],
    ['a number as reference', { next_state: 'COMPLETED', external_ref: 7 }],
    ['an empty reference', { next_state: 'COMPLETED', external_ref: '' }],
    ['a huge reference', { next_state: 'COMPLETED', external_ref: 'x'.repeat(513) }],
    ['an array as output', { next_state: 'COMPLETED', output: [] }],
    ['a huge output', { next_state: 'COMPLETED', output: { a: 'x'.repeat(300_000) } }],
    ['a NUL in the output', { next_state: 'COMPLETED', output: { a: ['\0'] } }],
    ['a lone surrogate in a key', { next_state: 'COMPLETED', output: { '\ud800': 1 } }],
    ['a negative wait', { next_state: 'OBSERVING', retry_after_seconds: -1 }],
    ['a wait as text', { next_state: 'OBSERVING', retry_after_seconds: '1' }],
    ['an artifact without kind', { next_state: 'COMPLETED', artifacts: [{ data: {} }] }],
    ['a code with blanks', { next_state: 'FAILED', error_code: 'no funds' }],
  ])('%s is a protocol error', (_name, answer) => {
    expect(() => parseResult('recover', answer)).toThrow(ExecutorFault);
    expect(() => parseResult('recover', answer)).toThrow(
      expect.objectContaining({ code: 'EXECUTOR_PROTOCOL_ERROR' }),
    );
  });

  test('nesting is bounded', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 40; level += 1) deep = { deep };
    expect(() => parseResult('observe', { next_state: 'COMPLETED', output: deep })).toThrow(
      ExecutorFault,
    );
  });
});

describe('request bodies', () => {
  test('a full context passes unchanged and unknown keys are dropped', () => {
    const context = contextOf({
      signer: { signer_key: 's', chain_family: 'evm', address: '0x1' },
      prior: { external_ref: 'r', prepared_action: { a: 1 } },
    });
    expect(executionContextSchema.parse({ ...context, added_later: true })).toEqual(context);
  });

  test('a submit body holds context, prepared action and the signature when there is one', () => {
    const body = {
      context: contextOf(),
      prepared_action: { a: '1' },
      sign_result: { raw_tx: '0x' },
    };
    expect(submitBodySchema.parse({ ...body, extra: 1 })).toEqual(body);
    expect(submitBodySchema.safeParse({ context: contextOf() }).success).toBe(false);
  });
});

describe('the send lane of a context', () => {
  const LANE = { since: '2026-01-02T03:04:05.678Z', references: ['r'], unexplained: 1 };
  const read = (send_lane: object) =>
    executionContextSchema.safeParse({ ...contextOf(), send_lane });

  test('is read whole', () => {
    expect(read(LANE).data?.send_lane).toEqual(LANE);
  });

  test.each<[string, object]>([
    ['without its start', { since: undefined }],
    ['without references', { references: undefined }],
    ['without a count', { unexplained: undefined }],
    ['with a count below zero', { unexplained: -1 }],
    ['with another field', { another: 1 }],
  ])('%s is refused', (_name, changes) => {
    expect(read({ ...LANE, ...changes }).success).toBe(false);
  });
});

test('a message that is cut in the middle of a pair can be stored', () => {
  const { error_message } = parseResult('submit', {
    next_state: 'FAILED',
    error_code: 'X',
    error_message: `${'x'.repeat(1_999)}\u{1f4b8}`,
  });
  expect(error_message).toBe('x'.repeat(1_999));
});
