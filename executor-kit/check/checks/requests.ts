/** Checks unusual requests: unknown fields, other alphabets, bad bodies, missing tokens. */
import { EXECUTOR_PHASES, ExecutorFault, type ExecutionContext } from '../../../domain/executor.ts';
import type { Bench } from '../bench.ts';
import { mustComplete, mustHaveOneEffect } from '../outcome.ts';
import type { Check } from '../verdict.ts';
import { Broken } from '../broken.ts';

const ODD_TEXT = 'Überweisung "ß" \\ 漢字 🏦 %2F/../{}<&>';
const VALID_UTF8 = Buffer.from('{"idempotency_key": "');

const MALFORMED: Readonly<Record<string, string | Buffer>> = {
  'an empty body': '',
  'no JSON': '{"movement_id": ',
  'an array': '[]',
  null: 'null',
  'a text': '"submit"',
  'an empty object': '{}',
  'wrong types': JSON.stringify({
    movement_id: 1,
    node_key: [],
    attempt: 'one',
    idempotency_key: {},
    config: 'x',
    context: 5,
    prepared_action: [],
  }),
  'bytes that are not UTF-8': Buffer.concat([
    VALID_UTF8,
    Buffer.from([0xff, 0xfe, 0x80]),
    Buffer.from('"}'),
  ]),
  'ten thousand brackets': '['.repeat(10_000) + ']'.repeat(10_000),
};

/**
 * Returns the context with fields that a later version of the service might send, which today's
 * type does not have.
 */
function withMore(context: ExecutionContext): ExecutionContext {
  return Object.assign({}, context, { from_a_later_version: { list: [1, null, ODD_TEXT] } });
}

async function mustLive(bench: Bench, after: string): Promise<void> {
  const health = await bench.target.executor.health(bench.limits());
  if (health.state !== 'up')
    throw new Broken(`the executor was gone after ${after}`, 'No request may end the process.');
}

export const REQUESTS: readonly Check[] = [
  {
    id: 'unusual',
    guarantee: 'Unknown fields, and any characters in node_key and input_params, are accepted.',
    run: async (bench) => {
      const context = withMore(
        bench.context({
          node_key: ODD_TEXT,
          input_params: { ...bench.options.inputParams, [ODD_TEXT]: ODD_TEXT },
        }),
      );
      const action = await bench.prepare(context);
      mustComplete(await bench.observeToEnd(action, await bench.submit(action)));
      await mustHaveOneEffect(bench, action);
    },
  },
  {
    id: 'unusual-config',
    guarantee: 'Unusual text in config is accepted or refused, and never makes the executor fail.',
    run: async (bench) => {
      const context = bench.context({ config: { ...bench.options.config, note: ODD_TEXT } });
      try {
        await bench.call('preflight', () =>
          bench.target.executor.preflight(context, bench.limits()),
        );
      } catch (error) {
        if (error instanceof ExecutorFault && error.kind === 'rejected') return;
        throw error;
      }
    },
  },
  {
    id: 'malformed',
    guarantee:
      'A malformed request is refused (4xx, or a failure of type EXECUTOR_REJECTED), and the executor keeps running.',
    run: async (bench) => {
      for (const phase of EXECUTOR_PHASES) {
        for (const [what, body] of Object.entries(MALFORMED)) {
          const outcome = await bench.target.sendMalformed(phase, body);
          if (outcome === 'refused') continue;
          const advice =
            'Check the whole request before you use it, and answer 422 (400 when it is no JSON); a 5xx is repeated without end.';
          throw new Broken(`${phase} with ${what}: ${outcome.instead}`, advice);
        }
      }
      await mustLive(bench, 'malformed requests');
    },
  },
  {
    id: 'token',
    guarantee: 'A call without the right bearer token is refused (401 or 403), in every phase.',
    notHere: ({ target, options }) => {
      if (target.statusWith === undefined)
        return 'a task queue has no token; the Temporal namespace controls access';
      return options.tokenFile === undefined ? 'needs --token-file' : null;
    },
    run: async (bench) => {
      const action = await bench.prepare();
      const advice =
        'Compare the Authorization header first, in constant time, before the body is read.';
      for (const phase of EXECUTOR_PHASES) {
        for (const header of [null, 'Bearer wrong', 'Bearer', 'Basic d3Jvbmc6d3Jvbmc=']) {
          const body = phase === 'submit' ? action : action.context;
          const status = await bench.target.statusWith?.(phase, body, header);
          if (status === 401 || status === 403) continue;
          throw new Broken(
            `${phase} with ${header === null ? 'no token' : `"${header}"`} answered ${status ?? 'nothing'}`,
            advice,
          );
        }
      }
      const found = await bench.recover(action);
      if (found.next_state !== 'READY' && found.next_state !== 'UNKNOWN')
        throw new Broken('the executor carried out a submit without the token', advice);
    },
  },
];
