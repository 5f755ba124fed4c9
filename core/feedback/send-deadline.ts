import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';

const require = createRequire(import.meta.url);

/** A tenth of a second and 30 MB, for creating requests alone: loaded with the first one. */
const undici = (): typeof import('undici') => require('undici');

/** Thrown by `fetch` as a cause: the call would have left too late, and did not leave. */
class LeftTooLate extends Error {
  readonly code = 'CLOSELOOP_LEFT_TOO_LATE';
}

/**
 * A dispatcher for `fetch` that looks at the clock again in the very moment in which a request would be written into its
 * connection. A process may stand still between any two steps (a suspended machine, SIGSTOP), also while it connects, and
 * no timer runs before what the connection brings.
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
