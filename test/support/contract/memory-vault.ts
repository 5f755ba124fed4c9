import type { Vault } from '../../../core/connector/contract.ts';

/** A vault in memory, for one process. */
export function memoryVault(held = new Map<string, string>()): Vault {
  let last: Promise<unknown> = Promise.resolve();
  return {
    get: async (name) => held.get(name),
    set: async (name, value) => void held.set(name, value),
    locked: (_name, work) => {
      const mine = last.then(work, work);
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
