/**
 * One run for many callers: callers that arrive during a run share the next run. A run thus begins
 * after each of its callers has come: what it reads is as new as if each had read it, and what a caller wrote before is there.
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
