/**
 * The check is worth what it catches: executors with one fault each, and the guarantee that must be
 * named.
 */
import { createServer } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { jest } from '@jest/globals';
import { freePort } from '../../dev/stack/ports.ts';
import type { PayeeField } from '../../domain/executor.ts';
import {
  accepted,
  completed,
  failed as failedAnswer,
  notLanded,
  notNow,
  prepared,
  unknown,
} from '../../executor-kit/define.ts';
import { checkServed, checkTarget, failed, optionsOf, troubles } from './support/check.ts';
import { memoryExecutor } from './support/memory-executor.ts';

jest.setTimeout(60_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'executor-check-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('an executor without faults passes everything that can be checked here', async () => {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'secret-of-the-test\n');
  const results = await checkServed(memoryExecutor(), { tokenFile }, { authTokenFile: tokenFile });
  expect(troubles(results)).toEqual([]);
  const notRun = results.filter(({ status }) => status === 'not_run').map(({ id }) => id);
  expect(notRun).toEqual(['too-late', 'crash-after-answer', 'crash-during-submit']);
});

describe('caught, by the guarantee that is broken:', () => {
  test('a new effect and reference for each submit', async () => {
    const executor = memoryExecutor((payments) => ({
      submit: async ({ context }) => accepted(await payments.pay(context.idempotency_key)),
    }));
    const results = await checkServed(executor, { only: ['repeat', 'parallel', 'lost-answer'] });
    expect(failed(results)).toEqual(['repeat', 'parallel', 'lost-answer']);
    expect(results.find(({ id }) => id === 'repeat')?.reason).toMatch(
      /external_ref .* a second effect/,
    );
  });

  test('two effects under one reference, when effects are counted', async () => {
    const executor = memoryExecutor((payments) => ({
      submit: async ({ context }) => {
        await payments.pay(context.idempotency_key);
        return accepted(payments.ref(context.idempotency_key) ?? '');
      },
    }));
    const results = await checkServed(executor, { only: ['repeat'] });
    expect(troubles(results)).toEqual([
      'repeat: 3 effects were counted for one key where exactly 1 was due',
    ]);
  });

  test('a key that is looked up before, but not held while the payment runs', async () => {
    const executor = memoryExecutor((payments) => ({
      submit: async ({ context: { idempotency_key } }) =>
        accepted(payments.ref(idempotency_key) ?? (await payments.pay(idempotency_key))),
      recover: async ({ idempotency_key }) => {
        const ref = payments.ref(idempotency_key);
        return ref === undefined ? notLanded() : completed({ external_ref: ref });
      },
    }));
    expect(
      failed(await checkServed(executor, { only: ['repeat', 'recover', 'parallel'] })),
    ).toEqual(['parallel']);
  });

  test('READY from recover after it has sent', async () => {
    const executor = memoryExecutor(() => ({ recover: async () => notLanded() }));
    const results = await checkServed(executor, { only: ['recover', 'lost-answer', 'never-sent'] });
    expect(failed(results)).toEqual(['recover', 'lost-answer']);
    expect(results.find(({ id }) => id === 'recover')?.reason).toMatch(
      /READY \(nothing landed\) although the submit had its effect/,
    );
  });

  test('the same from an executor that is not declared same_key_safe', async () => {
    const executor = memoryExecutor(() => ({ recover: async () => notLanded() }));
    const results = await checkServed(executor, {
      sameKeySafe: false,
      only: ['repeat', 'recover'],
    });
    expect(failed(results)).toEqual(['recover']);
    expect(results.find(({ id }) => id === 'repeat')?.status).toBe('not_run');
  });

  test('FAILED from recover after it has sent', async () => {
    const executor = memoryExecutor(() => ({
      recover: async () => failedAnswer('NOT_FOUND', 'no such payment'),
    }));
    expect(troubles(await checkServed(executor, { only: ['recover', 'never-sent'] }))).toEqual([
      'recover: recover answered FAILED (NOT_FOUND, no such payment) after a submit',
      'never-sent: recover answered FAILED NOT_FOUND, no such payment for a key that was only prepared',
    ]);
  });

  test('COMPLETED for a key that was never sent', async () => {
    const executor = memoryExecutor(() => ({ recover: async () => completed() }));
    expect(failed(await checkServed(executor, { only: ['never-sent'] }))).toEqual(['never-sent']);
  });

  test('a payment that is forgotten when the caller leaves', async () => {
    const executor = memoryExecutor((payments) => {
      const remembered = new Map<string, string>();
      return {
        submit: async ({ context: { idempotency_key } }, call) => {
          const ref = remembered.get(idempotency_key) ?? (await payments.pay(idempotency_key));
          call.signal.throwIfAborted();
          remembered.set(idempotency_key, ref);
          return accepted(ref);
        },
        recover: async ({ idempotency_key }) => {
          const ref = remembered.get(idempotency_key);
          return ref === undefined ? notLanded() : completed({ external_ref: ref });
        },
      };
    });
    expect(
      failed(await checkServed(executor, { only: ['repeat', 'recover', 'lost-answer'] })),
    ).toEqual(['lost-answer']);
  });

  test('no certainty ever, from an executor that is declared same_key_safe', async () => {
    const executor = memoryExecutor(() => ({ recover: async () => unknown('cannot tell') }));
    expect(troubles(await checkServed(executor, { only: ['recover'] }))).toEqual([
      'recover: recover said UNKNOWN 20 times after a submit that reached the executor',
    ]);
    expect(failed(await checkServed(executor, { only: ['recover'], sameKeySafe: false }))).toEqual(
      [],
    );
  });

  test('a prepared action that differs from call to call', async () => {
    const executor = memoryExecutor(() => ({
      prepare: async ({ amount }) => prepared({ amount, id: String(performance.now()) }),
    }));
    const results = await checkServed(executor);
    expect(failed(results)).toEqual(['prepare']);
    expect(results.find(({ id }) => id === 'repeat')?.reason).toBe(
      'the checks before it must pass first',
    );
  });

  test('a preflight that refuses, an action that fails and an action that never ends', async () => {
    const refuses = memoryExecutor(() => ({
      preflight: async () => failedAnswer('NO_MONEY', 'the account is empty'),
    }));
    expect(troubles(await checkServed(refuses))).toEqual([
      'preflight: preflight answered FAILED: NO_MONEY, the account is empty',
    ]);
    const closed = memoryExecutor(() => ({
      prepare: async () => notNow('VENUE_SUSPENDED', 'closed until noon'),
    }));
    expect(troubles(await checkServed(closed))).toEqual([
      'prepare: prepare answered READY: VENUE_SUSPENDED, closed until noon',
    ]);
    const waits = memoryExecutor(() => ({
      preflight: async () => notNow('VENUE_SUSPENDED', 'closed until noon', 30),
    }));
    expect(troubles(await checkServed(waits))).toEqual([
      'preflight: preflight answered READY: VENUE_SUSPENDED, closed until noon',
    ]);
    const fails = memoryExecutor(() => ({
      observe: async () => failedAnswer('RETURNED', 'sent back'),
    }));
    expect(troubles(await checkServed(fails))).toEqual([
      'complete: the action ended FAILED (RETURNED, sent back)',
    ]);
    const hangs = memoryExecutor(() => ({ observe: async () => accepted('x') }));
    expect(failed(await checkServed(hangs, { completeWithin: 0.3 }))).toEqual(['complete']);
  });

  test('a cancel that says FAILED after the payment', async () => {
    const executor = memoryExecutor(() => ({
      cancel: async () => failedAnswer('CANCELLED', 'stopped'),
    }));
    expect(failed(await checkServed(executor, { only: ['cancel'] }))).toEqual(['cancel']);
  });

  test('a server that does not check the token', async () => {
    const tokenFile = join(folder, 'unchecked');
    writeFileSync(tokenFile, 'secret');
    expect(troubles(await checkServed(memoryExecutor(), { tokenFile, only: ['token'] }))).toEqual([
      'token: preflight with no token answered 204',
    ]);
  });

  test('names that it cannot take', async () => {
    const picky = memoryExecutor((_, { submit }) => ({
      submit: async (submission, call) => {
        if (!/^[\w:-]+$/.test(submission.context.idempotency_key)) throw new Error('bad key');
        return submit(submission, call);
      },
    }));
    expect(failed(await checkServed(picky, { only: ['unusual'] }))).toEqual(['unusual']);
    const brittle = memoryExecutor(() => ({
      preflight: async ({ config }) => {
        if (config['note'] !== undefined) throw new Error('unexpected');
        return null;
      },
    }));
    expect(failed(await checkServed(brittle, { only: ['unusual-config'] }))).toEqual([
      'unusual-config',
    ]);
  });

  test('an answer that a phase may not give, and rubbish that ends in a 500', async () => {
    const server = createServer((request, response) => {
      const health = request.method === 'GET';
      const preflight = request.url === '/preflight';
      const body =
        request.url === '/prepare'
          ? { next_state: 'SUBMITTING', prepared_action: {} }
          : { next_state: 'READY' };
      response.writeHead(preflight ? 204 : 200, { 'content-type': 'application/json' });
      response.end(preflight ? undefined : JSON.stringify(health ? {} : body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const results = await checkTarget(optionsOf(url));
    server.closeAllConnections();
    server.close();
    expect(troubles(results)).toEqual([
      'complete: submit must not answer next_state READY',
      expect.stringMatching(/^protocol: submit: /),
    ]);
    const careless = memoryExecutor();
    const answer: typeof careless.answer = async (phase, request, call) =>
      careless.answer(phase, request, call).catch(() => {
        throw new Error('an unchecked body');
      });
    expect(troubles(await checkServed({ ...careless, answer }, { only: ['malformed'] }))).toEqual([
      'malformed: preflight with an array: it answered 500',
    ]);
  });

  test('an executor that forgets when it is killed', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const statement = join(folder, 'statement');
    const results = await checkTarget(
      optionsOf(url, {
        effectsUrl: `${url}/effects/{idempotency_key}`,
        command: `exec node dist/executor-forgetful.js ${port} ${statement}`,
        only: ['repeat', 'recover', 'crash-after-answer'],
      }),
    );
    expect(troubles(results)).toEqual([
      'crash-after-answer: recover answered READY (nothing landed) although the submit had its effect',
    ]);
  }, 120_000);
});

describe('whom it pays', () => {
  const EVIL = `0x${'e1'.repeat(20)}`;
  const config = { id: 'alice' };
  const payees: PayeeField[] = [{ field: 'id', family: 'cex' }];
  /** Prepares the payee of the config, in the same field, unless `id` says otherwise. */
  const naming = (id: (payee: string) => string | undefined) =>
    memoryExecutor(() => ({
      prepare: async ({ amount, config: { id: payee } }) => {
        const named = id(String(payee));
        return prepared(named === undefined ? { amount } : { amount, id: named });
      },
    }));
  const troublesOf = async (
    executor: ReturnType<typeof naming>,
    changes: Parameters<typeof checkServed>[1] = {},
  ) => troubles(await checkServed(executor, { config, payees, only: ['payees'], ...changes }));
  const sound = naming((payee) => payee);

  test('passes where prepare names the declared field’s payee, and where it serves no other', async () => {
    const results = await checkServed(sound, { config, payees, only: ['payees'] });
    expect(results.find(({ id }) => id === 'payees')).toMatchObject({ status: 'passed' });
    const closed = memoryExecutor(() => ({
      prepare: async ({ amount, config: { id } }) =>
        id === 'alice' ? prepared({ amount, id: 'alice' }) : failedAnswer('NOT_SERVED', 'no'),
    }));
    expect(await troublesOf(closed)).toEqual([]);
    expect(
      await troublesOf(sound, { config: { id: EVIL }, payees: [{ field: 'id', family: 'evm' }] }),
    ).toEqual([]);
    expect(
      await troublesOf(sound, { config: { id: EVIL }, payees: [], notPayees: ['id'] }),
    ).toEqual([]);
  });

  test.each<[string, (payee: string) => string | undefined, RegExp]>([
    [
      'somebody else',
      () => 'bob',
      /^payees: prepare: what was prepared does not name exactly the same in id/,
    ],
    [
      'no payee',
      () => undefined,
      /^payees: prepare: what was prepared does not name exactly the same in id/,
    ],
    [
      'always the same one',
      () => 'alice',
      /^payees: prepare for somebody else in id: what was prepared does not name exactly the same/,
    ],
  ])('is caught where prepare names %s', async (_what, id, reason) => {
    expect(await troublesOf(naming(id))).toEqual([expect.stringMatching(reason)]);
  });

  test('is caught where an address is named that is not declared', async () => {
    const reason = `payees: prepare: ${EVIL} is an EVM address, and no declared field names it: the service takes it for a payee`;
    expect(
      await troublesOf(
        naming(() => EVIL),
        { payees: [] },
      ),
    ).toEqual([reason]);
  });

  test('is caught where the declaration does not fit the config', async () => {
    const reasons = [
      await troublesOf(sound, { payees: [{ field: 'to.account', family: 'cex' }] }),
      await troublesOf(sound, { payees: [{ field: 'id', family: 'evm' }] }),
      await troublesOf(sound, { config: { id: EVIL }, payees: [] }),
    ];
    expect(reasons).toEqual([
      ['payees: the config: to.account names no payee'],
      ['payees: alice is declared as family evm, and is no address of such a chain'],
      [
        `payees: the config: ${EVIL} is an EVM address, and no declared field names it: the service takes it for a payee`,
      ],
    ]);
  });

  const watches = memoryExecutor(() => ({
    submit: async () => completed(),
    effects: async () => 0,
  }));

  test('is skipped for what the service knows by itself, and for what sends nothing', async () => {
    const reason = async (
      executor: ReturnType<typeof naming>,
      changes: Parameters<typeof checkServed>[1],
    ) =>
      (await checkServed(executor, { config, payees, only: ['payees'], ...changes })).find(
        ({ id }) => id === 'payees',
      )?.reason;
    expect(await reason(sound, { actionType: 'evm_native_transfer' })).toMatch(
      /the service knows by itself/,
    );
    expect(await reason(watches, { sends: false })).toMatch(/declared as sends: false/);
  });

  test('is caught where an effect is counted of an executor that is declared to send nothing', async () => {
    const [trouble, ...others] = troubles(
      await checkServed(sound, { config, sends: false, only: ['complete'] }),
    );
    expect([trouble, others]).toEqual([
      'complete: 1 effects were counted, and the executor is declared to send nothing',
      [],
    ]);
    expect(
      troubles(
        await checkServed(watches, {
          config,
          sends: false,
          only: ['complete', 'repeat', 'cancel'],
        }),
      ),
    ).toEqual([]);
  });
});
