/**
 * One run for many callers: callers that arrive during a run share the next run. So a run begins only after all its callers have
 * called: it reads data as new as each caller would have read alone, and sees everything that its callers wrote before.
 */
export function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        const begun = run();
        current = begun;
        return begun;
      });
    return next;
  };
}
