/**
 * The check that every team's executor has to pass, with what is paid at the exchange as the count
 * of effects.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ExecutorFault,
  type ExecutionResult,
  type Executor,
  type ExecutorPhase,
  type SubmitInput,
} from '../../../domain/executor.ts';
import { Bench } from '../../../executor-kit/check/bench.ts';
import { runChecks } from '../../../executor-kit/check/run.ts';
import type { Target } from '../../../executor-kit/check/target.ts';
import { parseResult } from '../../../executors/protocol.ts';
import { hashedId } from '../../../venues/cex/client-id.ts';
import { createCexInternalTransferExecutor } from '../../../venues/cex/internal-transfer.ts';
import { createCexWithdrawalExecutor } from '../../../venues/cex/withdrawal.ts';
import { optionsOf, troubles } from '../../executor-kit/support/check.ts';
import { ADDRESS, freshBooks, openDesk, type Desk } from './support/desk.ts';

let desk: Desk;
let effects: Server;
beforeAll(async () => {
  desk = await openDesk();
  freshBooks(desk);
  desk.exchange.books.set(null, 'SPOT', 'USDC', '1000000');
  effects = createServer((request, response) => {
    const id = hashedId(decodeURIComponent((request.url ?? '').slice(1)));
    const { withdrawals, transfers } = desk.exchange.books;
    const count = [
      ...withdrawals.map((each) => each.client_id),
      ...transfers.map((each) => each.client_id),
    ];
    response.end(JSON.stringify({ effects: count.filter((each) => each === id).length }));
  });
  await new Promise<void>((resolve) => effects.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  effects.close();
  await desk.close();
});

/** Every answer is held against the protocol, as those of other processes are. */
function checked(executor: Executor): Executor {
  const of = (phase: ExecutorPhase) => (answer: ExecutionResult) => parseResult(phase, answer);
  return {
    ...executor,
    preflight: async (context, call) => {
      const answer = await executor.preflight(context, call);
      return answer === null ? null : parseResult('preflight', answer);
    },
    prepare: (context, call) => executor.prepare(context, call).then(of('prepare')),
    submit: (input, call) => executor.submit(input, call).then(of('submit')),
    observe: (context, call, journal) =>
      executor.observe(context, call, journal).then(of('observe')),
    recover: (context, call, journal) =>
      executor.recover(context, call, journal).then(of('recover')),
    cancel: (context, call) => executor.cancel(context, call).then(of('cancel')),
  };
}

/** A module of this process: an answer gets lost when its caller stops waiting for it. */
function targetOf(executor: Executor): Target {
  const quietly = (error: unknown): void => {
    if (!(error instanceof ExecutorFault)) throw error;
  };
  return {
    kind: 'task_queue',
    executor: checked(executor),
    submitUnheard: async (input: SubmitInput, lost) => {
      const controller = new AbortController();
      const sent = executor
        .submit(input, { signal: controller.signal })
        .then(() => undefined, quietly);
      if (lost === 'answered') return sent;
      await sleep(lost);
      controller.abort();
      await sent;
    },
    submitTooLate: (input) => executor.submit(input, { signal: AbortSignal.abort() }),
    sendMalformed: () => Promise.reject(new Error('nothing comes over a wire here')),
    close: async () => undefined,
  };
}

const CHECKS = [
  'recover',
  'never-sent',
  'lost-answer',
  'time-out',
  'too-late',
  'unusual',
  'unusual-config',
  'cancel',
];

test.each([
  [
    'cex_withdrawal',
    createCexWithdrawalExecutor,
    { venue: 'cex-main', network: 'ETH', destination_address: ADDRESS },
  ],
  [
    'cex_internal_transfer',
    createCexInternalTransferExecutor,
    { venue: 'cex-main', destination_venue: 'cex-sub' },
  ],
] as const)(
  '%s keeps the guarantees that the service relies on',
  async (actionType, create, config) => {
    const executor = create(desk.accounts());
    const effectsUrl = `http://127.0.0.1:${String((effects.address() as AddressInfo).port)}/{idempotency_key}`;
    const { same_key_safe: sameKeySafe } = executor.descriptor;
    const options = optionsOf('in this process', {
      actionType,
      config,
      amount: '11',
      sameKeySafe,
      effectsUrl,
      only: CHECKS,
    });
    const results = await runChecks(new Bench(targetOf(executor), options, null), () => undefined);
    expect(troubles(results)).toEqual([]);
    const passed = results.filter(({ status }) => status === 'passed').map(({ id }) => id);
    expect(passed).toEqual(['health', 'preflight', 'prepare', 'complete', ...CHECKS, 'protocol']);
  },
);
