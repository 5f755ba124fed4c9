/** A place in a line. */
export interface Place {
  /** Resolves when nobody of a lower rank waits. May be asked again: somebody may have come in before. */
  first(): Promise<void>;
  /** Left once, whatever came of it. */
  leave(): void;
}

/** Those of one process who wait for the same thing: the lowest rank first, and in the order of their coming. */
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
