/**
 * The attester's HTTP server, in the shape of Circle's API: `GET
 * /v2/messages/{domain}?transactionHash=` and `POST /v2/reattest/{nonce}`; plus the routes of the
 * test bench.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, Request, Response } from 'express';
import { addFaultRoutes, type FaultBox } from '../../kit/faults.ts';
import { HttpError, PLAIN_ERRORS, addErrorRoutes, addViews, createApp } from '../../kit/http.ts';
import type { Hex } from '../../kit/hex.ts';
import type { Attestations } from './attestations.ts';
import type { AttesterFaults } from './faults.ts';
import type { AttesterJournal } from './journal.ts';

interface Parts {
  readonly attestations: Attestations;
  readonly journal: AttesterJournal;
  readonly faults: FaultBox<AttesterFaults>;
}

const HASH = /^0x[0-9a-fA-F]{64}$/;

/** Creates the express application of the attester. Error bodies are `{code, error}`. */
export function createAttesterServer({ attestations, journal, faults }: Parts): Express {
  const app = createApp();
  const limit = createLimit(() => faults.current());
  let calls = 0;

  addViews(app, {
    '/health': () => ({ status: 'ok', calls }),
    '/attestations': () => ({ messages: journal.all().map(([key, known]) => ({ key, ...known })) }),
  });
  addFaultRoutes(app, faults, limit.forget);

  const answer =
    (work: (request: Request) => Promise<unknown>) =>
    async (request: Request, response: Response): Promise<void> => {
      calls += 1;
      await suffer(faults, { limit, request, response }, () => work(request));
    };

  app.get(
    '/v2/messages/:domain',
    answer(async ({ params, query }) => {
      const { domain = '' } = params as Record<string, string>;
      const { transactionHash } = query;
      if (!/^\d{1,10}$/.test(domain)) throw new HttpError(400, 'Invalid source domain');
      if (typeof transactionHash !== 'string' || !HASH.test(transactionHash))
        throw new HttpError(400, 'Invalid transaction hash');
      const messages = await attestations.messagesOf(
        Number(domain),
        transactionHash.toLowerCase() as Hex,
      );
      if (messages === null) throw new HttpError(404, 'Message not found');
      return { messages };
    }),
  );
  app.post(
    '/v2/reattest/:nonce',
    answer(async ({ params }) => {
      const { nonce = '' } = params as Record<string, string>;
      if (!attestations.attestAnew(nonce)) throw new HttpError(404, 'Nonce not found');
      return { message: 'Re-attestation successfully requested for nonce.', nonce };
    }),
  );
  addErrorRoutes(app, 'attester', PLAIN_ERRORS);
  return app;
}

/** Handles one call with the current faults. */
async function suffer(
  faults: FaultBox<AttesterFaults>,
  call: {
    readonly limit: Limit;
    readonly request: Request;
    readonly response: Response;
  },
  work: () => Promise<unknown>,
): Promise<void> {
  const { latency_ms, error_rate, error_status, lose_answer_rate, garbage_rate, remaining } =
    faults.current();
  const fails = Math.random() < error_rate;
  const losesAnswer = Math.random() < lose_answer_rate;
  const garbage = Math.random() < garbage_rate;
  if (call.limit.exceeded()) throw new HttpError(429, 'Too many requests');
  if (remaining !== null)
    faults.set({
      ...faults.current(),
      ...(remaining > 1 ? { remaining: remaining - 1 } : HEALTHY_CALLS),
    });
  await sleep(latency_ms);
  if (fails) throw new HttpError(error_status, 'a fault on demand; nothing was done');
  if (losesAnswer) {
    // The call was executed or refused; its caller gets no response.
    await work().catch(() => undefined);
    call.request.socket.destroy();
    return;
  }
  const body = await work();
  if (garbage) call.response.type('html').send('<html>maintenance</html>');
  else call.response.json(body);
}

/** Values of the limited faults once `remaining` calls are used up. */
const HEALTHY_CALLS = {
  latency_ms: 0,
  error_rate: 0,
  lose_answer_rate: 0,
  garbage_rate: 0,
  remaining: null,
} as const;

interface Limit {
  /** Counts a call; returns true when the call exceeds the limit. */
  exceeded(): boolean;
  forget(): void;
}

function createLimit(faults: () => AttesterFaults): Limit {
  let second = 0;
  let inSecond = 0;
  let until = 0;
  return {
    exceeded: () => {
      const { limited, limit_per_second, limit_ms } = faults();
      const now = Date.now();
      if (limited || now < until) return true;
      if (Math.floor(now / 1_000) !== second) {
        second = Math.floor(now / 1_000);
        inSecond = 0;
      }
      inSecond += 1;
      if (inSecond <= limit_per_second) return false;
      until = now + limit_ms;
      return true;
    },
    forget: () => {
      until = 0;
      inSecond = 0;
    },
  };
}
