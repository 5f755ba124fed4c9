import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';

const require = createRequire(import.meta.url);

/** undici takes a tenth of a second and 30 MB to load, and only creating requests needs it: loaded with the first request. */
const undici = (): typeof import('undici') => require('undici');

/** The cause of the error that `fetch` throws when the deadline had passed before anything was sent. */
class LeftTooLate extends Error {
  readonly code = 'CLOSELOOP_LEFT_TOO_LATE';
}

/**
 * A dispatcher for `fetch` that checks the deadline at the moment in which the request is written to the connection. A process
 * may be suspended at any time (a paused machine, SIGSTOP), also while it connects, and a timer would fire too late.
 */
export function leavingBy(moment: Date, now: () => Date): Dispatcher {
  return undici()
    .getGlobalDispatcher()
    .compose(
      (dispatch) => (options, handler) =>
        dispatch(
          options,
          guarded(handler, () => now() > moment),
        ),
    );
}

function guarded(handler: Dispatcher.DispatchHandler, isLate: () => boolean): Dispatcher.DispatchHandler {
  const { DecoratorHandler } = undici();
  const guard: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
  const start = guard.onRequestStart?.bind(guard);
  // Called before the first byte, and again should the request be sent once more.
  guard.onRequestStart = (controller, context) => {
    start?.(controller, context);
    if (isLate()) controller.abort(new LeftTooLate('it would have left too late'));
  };
  return guard;
}
