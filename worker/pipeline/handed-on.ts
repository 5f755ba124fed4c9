import { freshMs } from './vendor.ts';

/** What a stage has read or stored, for the next stage of this process. Another process reads it anew. */
export class HandedOn<Value> {
  readonly #all = new Map<string, Value>();

  keep(key: string, value: Value): void {
    this.#all.set(key, value);
    // Personal data is kept no longer than it may be used, also where another process does the work.
    const forget = () => this.#all.get(key) === value && this.#all.delete(key);
    setTimeout(forget, freshMs).unref();
  }

  take(key: string): Value | undefined {
    const value = this.#all.get(key);
    this.#all.delete(key);
    return value;
  }
}
