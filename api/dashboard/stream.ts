/** The console's stream: names the data that changed, for the page to read again. */
import { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/roles.ts';
import { AuthenticationError } from '../auth/refusal.ts';
import { defineRoute, type Route, type TextReply } from '../http/route.ts';
import { noBody, noParams } from '../http/schemas.ts';
import type { SignedRequest } from '../http/signed-request.ts';
import { EVENT_STREAM, type EventStream } from '../http/stream-reply.ts';
import type { Authenticated, OperatorAuthentication } from './authenticate.ts';
import type { ConsoleFeed } from './console-feed.ts';
import type { OperatorKeys } from './operators.ts';

/** Milliseconds between checks, so that a stream ends within 5 s after its session or key. */
const CHECK_EVERY_MS = 4_000;

/** Authenticates the callers of streams and checks whether a stream may stay open. */
export interface StreamDoor {
  /** Returns who opens a stream, as {@link OperatorAuthentication.known} does. */
  authenticate(request: SignedRequest): Promise<Caller>;
  /** Returns whether the caller of an open stream could still open the stream. */
  mayStay(caller: Caller): Promise<boolean>;
}

/**
 * Creates the door. A session is checked again with the request as sent; an operator's key must
 * still exist, unchanged.
 */
export function createStreamDoor(
  authentication: Pick<OperatorAuthentication, 'known'>,
  keys: OperatorKeys,
): StreamDoor {
  const recheckOf = new WeakMap<Caller, () => Promise<boolean>>();
  // An open or reconnected stream does not count as use by a person.
  const known = (request: SignedRequest) => authentication.known(request, { isUse: false });
  const sessionStays = async (request: SignedRequest, operator: unknown): Promise<boolean> => {
    const { caller, by } = await known(request);
    return by === 'session' && caller.dashboard?.operator === operator;
  };
  const againOf = async (
    request: SignedRequest,
    { caller, by }: Authenticated,
  ): Promise<() => Promise<boolean>> => {
    const operator = caller.dashboard?.operator ?? '';
    if (by === 'session') return () => sessionStays(request, operator);
    const secret = (await keys.find(operator))?.secret;
    return async () => {
      const now = await keys.find(operator);
      return now !== null && secret?.equals(now.secret) === true;
    };
  };
  return {
    authenticate: async (request) => {
      const opener = await known(request);
      recheckOf.set(opener.caller, await againOf(request, opener));
      return opener.caller;
    },
    mayStay: async (caller) => {
      try {
        return (await recheckOf.get(caller)?.()) === true;
      } catch (error) {
        // When the database is unreachable, the feed ends the streams; the session stays valid.
        return !(error instanceof AuthenticationError);
      }
    },
  };
}

export interface StreamOptions {
  readonly feed: ConsoleFeed;
  readonly mayStay: StreamDoor['mayStay'];
  /** Maximum number of open streams in this process. */
  readonly most: number;
}

/** Returns the stream's route; the door decides on access. `options` is called at requests only. */
export function streamRoute(options: () => StreamOptions): Route {
  let open = 0;
  const begin = async (cursor: string | undefined, caller: Caller): Promise<TextReply> => {
    let stream: EventStream | null = null;
    let text = '';
    const { feed, mayStay } = options();
    const leave = await feed.join(cursor, {
      send: (more) => {
        if (stream === null) text += more;
        else stream.write(more);
      },
      end: (last) => stream?.end(last),
    });
    return {
      status: 200,
      type: EVENT_STREAM,
      text,
      goesOn: (opened) => {
        stream = opened;
        const asking = setInterval(() => {
          void mayStay(caller).then((stays) => {
            if (!stays) opened.end();
          });
        }, CHECK_EVERY_MS);
        return () => {
          clearInterval(asking);
          leave();
          open -= 1;
        };
      },
    };
  };
  return defineRoute({
    id: 'streamConsoleEvents',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/dashboard/stream',
    roles: [],
    tag: 'Dashboard',
    summary: 'Stream what to read again',
    params: noParams,
    query: z.strictObject({ since: z.string().max(128).optional() }),
    body: noBody,
    response: z.never(),
    text: 'Server-sent events.',
    errors: [],
    handler: async ({ query: { since }, headers, requester: { caller } }) => {
      if (open >= options().most) throw new ServiceError('overloaded');
      open += 1;
      try {
        return await begin(headers['last-event-id'] ?? since, caller);
      } catch (error) {
        open -= 1;
        throw error;
      }
    },
  });
}
