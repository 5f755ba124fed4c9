import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, runInContext, Script } from 'node:vm';
import { type Failure, limits } from './expression-limits.ts';

/*
 * JSONata in a JavaScript context of its own, without `process`, `require`, `fetch` and the environment. The context runs in a
 * thread (expression-worker.ts) that is terminated when an expression takes too long (a backtracking regular expression can't be
 * interrupted otherwise) or uses up the memory. V8 ends the whole process, though, when a single allocation exceeds the thread's
 * memory. So JSONata's own limit bounds lists, and the sandbox checks the length of texts before they are joined, and the size of
 * every intermediate value.
 */

/** As `Evaluated`; the value is JSON, undefined where nothing was found. */
export type Reported = { failure: Failure } | { json: string | undefined };

export interface Sandbox {
  /** The record that `run` evaluates over. */
  load(json: string): void;
  run(source: string): Promise<Reported>;
}

const sandboxSource = `
(function () {
  var tooMuch = function () { return { code: 'too-much' }; };
  var stringify = JSON.stringify, join = Array.prototype.join;

  /** Throws for a value whose text would be too long: a list may hold the same large value many times. */
  function measure(value, perLevel) {
    var left = ${limits.text}, stack = [[value, 0]], depth = 0;
    while (stack.length > 0) {
      var next = stack.pop();
      var one = next[0];
      depth = next[1];
      left -= 2 + perLevel * depth + (typeof one === 'string' ? one.length : 0);
      if (one !== null && typeof one === 'object') {
        var keys = Object.keys(one);
        left -= keys.length;
        if (left < 0) throw tooMuch();
        for (var i = 0; i < keys.length; i++) {
          if (!Array.isArray(one)) left -= keys[i].length + 3;
          stack.push([one[keys[i]], depth + 1]);
        }
      }
      if (left < 0) throw tooMuch();
    }
  }
  Object.defineProperty(JSON, 'stringify', {
    value: function (value, replacer, space) {
      measure(value, typeof space === 'number' ? space : 0);
      return stringify(value, replacer, space);
    },
  });
  Object.defineProperty(Array.prototype, 'join', {
    value: function (separator) {
      var between = separator === undefined ? 1 : String(separator).length;
      var left = ${limits.text} - this.length * between;
      for (var i = 0; i < this.length && left >= 0; i++) left -= typeof this[i] === 'string' ? this[i].length : 0;
      if (left < 0) throw tooMuch();
      return join.call(this, separator);
    },
  });

  function failureOf(error) {
    if (error instanceof RangeError) return { code: 'too-much' };
    var code = typeof error.code === 'string' ? error.code : 'unknown';
    return { code: code, position: error.position, token: error.token, message: error.message };
  }
  function finite(key, value) {
    if (typeof value === 'number' && !isFinite(value)) throw { code: 'D1001' };
    return value;
  }
  function notTooLarge(expression, input, environment, result) {
    var limit = typeof result === 'string' ? ${limits.text} : Array.isArray(result) ? ${limits.list} : Infinity;
    if (result && result.length > limit) throw tooMuch();
  }

  var compiled = new Map(), record;
  function compile(source) {
    var made = compiled.get(source);
    if (made === undefined) {
      made = jsonata(source, { stack: ${limits.depth}, sequence: ${limits.list} });
      made.assign(Symbol.for('jsonata.__evaluate_exit'), notTooLarge);
      if (compiled.size >= 1000) compiled.clear();
      compiled.set(source, made);
    }
    return made;
  }
  load = function (json) { record = JSON.parse(json); };
  evaluate = function (source) {
    return Promise.resolve()
      .then(function () { return compile(source).evaluate(record); })
      .then(function (value) {
        if (typeof value === 'function' || (value && (value._jsonata_lambda === true || value._jsonata_function === true))) {
          throw { code: 'function' };
        }
        var json = JSON.stringify(value, finite);
        if (json !== undefined && json.length > ${limits.text}) throw tooMuch();
        return { json: json };
      })
      .catch(function (error) { return { failure: failureOf(error) }; });
  };
})();
`;

export function openSandbox(): Sandbox {
  const context = createContext(Object.assign(Object.create(null), { load: undefined, evaluate: undefined }), {
    name: 'closeloop expressions',
    codeGeneration: { strings: false, wasm: false },
  });
  runInContext(readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8'), context);
  runInContext(sandboxSource, context);
  // $base64encode and $base64decode look for a browser's functions at each call.
  context.window = { btoa, atob };
  const load = new Script('load(input); input = undefined');
  const run = new Script('evaluate(input)');
  return {
    load: (json) => {
      context.input = json;
      load.runInContext(context);
    },
    run: async (source) => {
      context.input = source;
      return await run.runInContext(context);
    },
  };
}
