/**
 * The venue's HTTP server: `POST /exchange` and `POST /info` with their faults, and the routes for
 * people and tests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, Request, Response } from 'express';
import { addFaultRoutes, type FaultBox } from '../kit/faults.ts';
import { PLAIN_ERRORS, addErrorRoutes, createApp } from '../kit/http.ts';
import { addAdminRoutes } from './admin.ts';
import { noteUnheard, takeAction } from './exchange.ts';
import type { PerpFaults } from './faults.ts';
import { answerInfo } from './info.ts';
import type { Network } from './signing.ts';
import type { Store } from './store.ts';
import { BROKEN, LIMITED, send, type Answer } from './wire.ts';

interface ServerParts {
  readonly store: Store;
  readonly faults: FaultBox<PerpFaults>;
  readonly network: Network;
}

/** A received call. */
interface Call {
  readonly body: string;
  readonly contentType: string;
}

export function createPerpServer({ store, faults, network }: ServerParts): Express {
  // `/exchange` and `/info` parse the body themselves, to report errors in the venue's words.
  const app = createApp({ text: ['/exchange', '/info'] });

  let agentsListedUntil = Infinity;
  addFaultRoutes(app, faults, () => {
    agentsListedUntil = faults.current().list_agents
      ? Infinity
      : Math.min(agentsListedUntil, Date.now());
  });
  addAdminRoutes(app, store);

  const exchange = {
    store,
    network,
    faults: faults.current,
    orderedRefusal: () => {
      const { reject_next, ...rest } = faults.current();
      if (reject_next !== null) faults.set(rest);
      return reject_next?.text ?? null;
    },
  };
  app.post('/exchange', (request, response) =>
    suffer(
      faults,
      { called: 'exchange', request, response },
      {
        work: (call, answered) => takeAction(exchange, { ...call, answered }),
        unheard: (call, answer) => noteUnheard(store, call.body, answer),
      },
    ),
  );
  const info = { store, faults: faults.current, agentsListedUntil: () => agentsListedUntil };
  app.post('/info', (request, response) =>
    suffer(
      faults,
      { called: 'info', request, response },
      { work: (call) => answerInfo(info, call), unheard: () => undefined },
    ),
  );
  addErrorRoutes(app, 'perp venue', PLAIN_ERRORS);
  return app;
}

/** Handles one call with the current faults. */
async function suffer(
  faults: FaultBox<PerpFaults>,
  { called, request, response }: { called: string; request: Request; response: Response },
  does: {
    readonly work: (call: Call, answered: boolean) => Answer | Promise<Answer>;
    readonly unheard: (call: Call, answer: Answer) => void;
  },
): Promise<void> {
  const body: unknown = request.body;
  const call = {
    body: typeof body === 'string' ? body : '',
    contentType: request.get('content-type') ?? '',
  };
  const wish = faults.current();
  const hit = wish.calls.some((each) => each === called);
  const refused = hit && Math.random() < wish.refuse_rate;
  const loses = hit && Math.random() < wish.lose_answer_rate;
  const garbage = hit && Math.random() < wish.garbage_rate;
  if (hit) await sleep(wish.latency_ms);
  const unheard = hit && wish.rate_limited ? LIMITED : refused ? BROKEN : null;
  if (unheard !== null) {
    does.unheard(call, unheard);
    send(response, unheard);
    return;
  }
  const answer = await does.work(call, !loses && !garbage);
  // The call was executed or refused; with `loses` its caller gets no response.
  if (loses) request.socket.destroy();
  else if (garbage) response.type('html').send('<html>maintenance</html>');
  else send(response, answer);
}
