import { isFunction, measureText } from './expression-budget.ts';

/** `$distinct` for the sandbox: JSONata's own `$distinct` compares every value with every other value. @param tick called for each value */
export function distinctIn(tick: () => void) {
  return function distinct(this: { createSequence: () => unknown[] }, list: unknown): unknown {
    if (!Array.isArray(list) || list.length <= 1) return list;
    const isSequence = Reflect.get(list, 'sequence') === true;
    const found = isSequence ? this.createSequence() : [];
    const seen = new Map([false, true].map((isObject) => [isObject, new Set<unknown>()]));
    for (const value of list) {
      tick();
      const isObject = typeof value === 'object' && value !== null && !isFunction(value);
      const key = isObject ? canonical(value) : value;
      const known = seen.get(isObject);
      if (!known?.has(key)) found.push(value);
      known?.add(key);
    }
    return found;
  };
}

/** A text that is the same for equal values, in whatever order their properties are. */
function canonical(value: object): string {
  measureText(value, 0);
  return JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
