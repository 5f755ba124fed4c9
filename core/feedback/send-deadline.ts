import type { Dispatcher } from 'undici';
import { connections, keptConnections } from '../connector/exchange.ts';

/** The deadline had passed before anything was sent. Node's own `fetch` throws it as the cause of its error. */
class LeftTooLate extends Error {
  readonly code = 'CLOSELOOP_LEFT_TOO_LATE';
}

/**
 * A dispatcher for `Ports.fetch` that checks the deadline at the moment in which the request is written to the connection. A process
 * may be suspended at any time (a paused machine, SIGSTOP), also while it connects, and a timer would fire too late.
 */
export function dispatcherUntil(moment: Date, now: () => Date): Pick<Dispatcher, 'dispatch'> {
  return {
    dispatch: (options, handler) => {
      const guard = guarded(handler, () => now() > moment);
      return keptConnections().dispatch(options, guard);
    },
  };
}

function guarded(handler: Dispatcher.DispatchHandler, isLate: () => boolean): Dispatcher.DispatchHandler {
  const { DecoratorHandler } = connections();
  const guard: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
  const start = guard.onRequestStart?.bind(guard);
  // Called before the first byte, and again should the request be sent once more.
  guard.onRequestStart = (controller, context) => {
    start?.(controller, context);
    if (isLate()) controller.abort(new LeftTooLate('it would have left too late'));
  };
  return guard;
}
