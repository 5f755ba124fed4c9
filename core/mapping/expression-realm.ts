import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, createContext, runInContext } from 'node:vm';
import { type Budget, measureText, tooMuch } from './expression-budget.ts';
import { limits } from './expression-limits.ts';
import { linearRegExp } from './linear-regex.ts';

export interface JsonataExpression {
  ast(): unknown;
  assign(name: string | symbol, value: unknown): void;
  evaluate(input: unknown): Promise<unknown>;
}

/** The realm in which JSONata runs, with the built-in objects of that realm. */
interface Realm {
  /** Not Node's type `Context`: programs without the types of Node read the types of this package. */
  context: Record<string, unknown>;
  jsonata: (source: string, options: { RegexEngine: unknown; stack: number; sequence: number }) => JsonataExpression;
  Array: ArrayConstructor;
  Error: ErrorConstructor;
  Function: FunctionConstructor;
  JSON: JSON;
  stringify: typeof JSON.stringify;
  /** The class of regular expressions, also for expressions that JSONata makes itself, as in `$toMillis`. */
  RegExp: ReturnType<typeof linearRegExp>;
  Promise: PromiseConstructor;
  settle: (promise: Promise<unknown>, done: (value: unknown) => void, failed: (error: unknown) => void) => void;
}

/** @param budget returns the budget of the evaluation whose turn it is */
export function openRealm(budget: () => Budget | undefined): Realm {
  const context = createContext(constants.DONT_CONTEXTIFY, {
    name: 'closeloop expressions',
    codeGeneration: { strings: false, wasm: false },
    microtaskMode: 'afterEvaluate',
  });
  runInContext(readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8'), context);
  const made = runInContext(
    `({ jsonata, Array, Error, Function, JSON, stringify: JSON.stringify, Promise, settle: (promise, done, failed) => {
      promise.then((value) => done(value), (error) => failed(error));
    } })`,
    context,
  );
  const realm: Realm = { ...made, context, RegExp: linearRegExp(() => void budget()?.tick()) };
  // $base64encode and $base64decode look for a browser's functions at each call.
  context.window = { btoa, atob };
  context.RegExp = realm.RegExp;
  // JSONata captures a stack trace for each failure, and may have thousands of failures at once.
  realm.Error.stackTraceLimit = 0;
  guard(realm, budget);
  return realm;
}

/** Puts limits on the functions that JSONata calls within a step and that run for long, or make something large. */
function guard(
  { context, stringify, Array: List, Function: Callable, JSON: Json }: Realm,
  budget: () => Budget | undefined,
): void {
  const { apply } = Reflect;
  const { join, slice, concat } = List.prototype;
  const define = (on: object, name: string, value: unknown): void => void Object.defineProperty(on, name, { value });

  define(Json, 'stringify', (value: unknown, replacer: undefined, space: unknown) => {
    measureText(value, typeof space === 'number' ? space : 0);
    return stringify(value, replacer, typeof space === 'number' ? space : undefined);
  });
  define(List.prototype, 'join', function (this: unknown[], separator: string = ',') {
    let left = limits.text - this.length * separator.length;
    for (let i = 0; i < this.length && left >= 0; i++) left -= String(this[i] ?? '').length;
    if (left < 0) throw tooMuch();
    return apply(join, this, [separator]);
  });
  // Sorting and appending copy the rest of the list again and again.
  for (const [name, copy] of Object.entries({ slice, concat })) {
    define(List.prototype, name, function (this: unknown[], ...args: unknown[]) {
      const made: unknown[] = apply(copy, this, args);
      budget()?.make(made.length);
      budget()?.tick();
      return made;
    });
  }
  // JSONata calls every function by `apply`, also without any step in between: `$map(list, $string)`.
  let calls = 0;
  define(Callable.prototype, 'apply', function (this: () => unknown, self: unknown, args: unknown[] = []) {
    if (calls++ % 16 === 0) budget()?.tick();
    return apply(this, self, args);
  });
  function Sized(length: number): unknown[] {
    if (length > limits.text) throw tooMuch();
    budget()?.make(length);
    return new List(length);
  }
  context.Array = Object.assign(Sized, { isArray: List.isArray, from: List.from, prototype: List.prototype });
}
