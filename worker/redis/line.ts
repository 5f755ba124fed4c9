/** A place in a line. */
export interface Place {
  /** Resolves when this place is the first. May be called again, as a lower rank may have entered since. */
  first(): Promise<void>;
  /** Leaves the line; called once. */
  leave(): void;
}

/** A waiting line within one process: lowest rank first, then in order of arrival. */
export function createLine(): { enter(rank: number): Place } {
  const waiting: { rank: number; wake: () => void }[] = [];
  return {
    enter(rank) {
      const own = { rank, wake: (): void => undefined };
      const behind = waiting.findIndex((one) => one.rank > rank);
      waiting.splice(behind === -1 ? waiting.length : behind, 0, own);
      return {
        async first() {
          while (waiting[0] !== own) {
            await new Promise<void>((resolve) => {
              own.wake = resolve;
            });
          }
        },
        leave() {
          waiting.splice(waiting.indexOf(own), 1);
          waiting[0]?.wake();
        },
      };
    },
  };
}
