/** The check of a deadline at the last moment before a request is written. */
import type { Dispatcher } from 'undici';
import type { Deadline } from '../deadline.ts';

/**
 * Returns the dispatcher for one request, which is refused if its time is over when its connection
 * is ready and its first byte would be written. The look-up of the name and the connection come
 * before, and a machine that is suspended during them goes on with them afterwards.
 */
export function writtenInTime(
  dispatcher: Dispatcher,
  { check }: Pick<Deadline, 'check'>,
): Dispatcher {
  const atStart: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context: unknown) {
        check();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...answer) => handler.onRequestUpgrade?.(...answer),
      onResponseStart: (...answer) => handler.onResponseStart?.(...answer),
      onResponseData: (...answer) => handler.onResponseData?.(...answer),
      onResponseEnd: (...answer) => handler.onResponseEnd?.(...answer),
      onResponseError: (...answer) => handler.onResponseError?.(...answer),
    });
  return dispatcher.compose(atStart);
}
