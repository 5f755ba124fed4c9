import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, runInContext, Script } from 'node:vm';
import { z } from 'zod';

/*
 * JSONata in a JavaScript context of its own, whose promises run to their end inside one call that V8 itself cuts off.
 * JSONata's own time limit is looked at between the steps of an expression only; a regular expression that backtracks
 * over a customer's comment is one step, and would stop the whole worker for hours.
 */

/** Milliseconds of this thread's own work that one evaluation may take. */
export const timeLimitMs = 1_000;
/** Nested evaluations: some 20 nested function calls that aren't tail calls. */
const depthLimit = 200;
/** Entries of any list made on the way. */
const listLimit = 100_000;
/** Characters of the result as JSON. */
const resultLimit = 1_000_000;

/** What went wrong, as JSONata's code and place; its own messages quote the record's values and stay behind. */
export interface Failure {
  code: string;
  /** Characters from the start, about where the fault is. */
  position?: number | undefined;
  /** The operator or function in question. */
  token?: string | undefined;
  /** Only for a fault in the text of the expression itself, which holds nothing of the record. */
  message?: string | undefined;
}

export type Compiled = { ok: true; compiled: unknown; ast: unknown } | { ok: false; failure: Failure };
export type Evaluated = { ok: true; value: unknown } | { ok: false; failure: Failure };

const Text = z.string().optional().catch(undefined);
const Failure = z.object({
  code: z.string().catch('unknown'),
  position: z.number().optional().catch(undefined),
  token: Text,
  message: Text,
});
const CompileReport = z.union([
  z.object({ failure: Failure }),
  z.object({ compiled: z.custom<object>((value) => typeof value === 'object'), ast: z.unknown() }),
]);
const RunReport = z.union([z.object({ failure: Failure }), z.object({ json: z.string().optional() })]);

/** Runs inside the context. Every report is a holder that is filled by the time the call returns. */
const sandboxSource = `
var source, compiled, input;
function failureOf(error) {
  if (error instanceof RangeError) return { code: 'too-much' };
  return { code: error.code, position: error.position, token: error.token, message: error.message };
}
function finite(key, value) {
  if (typeof value === 'number' && !isFinite(value)) throw { code: 'D1001' };
  return value;
}
function compile() {
  try {
    var made = jsonata(source, { stack: ${depthLimit}, sequence: ${listLimit} });
    return { compiled: made, ast: made.ast() };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}
function run() {
  var report = {};
  compiled.evaluate(JSON.parse(input)).then(function (value) {
    if (typeof value === 'function' || (value && (value._jsonata_lambda || value._jsonata_function))) {
      throw { code: 'function' };
    }
    var json = JSON.stringify(value, finite);
    if (json !== undefined && json.length > ${resultLimit}) throw { code: 'too-much' };
    report.json = json;
  }).catch(function (error) { report.failure = failureOf(error); });
  return report;
}
`;

interface Sandbox {
  compile(source: string): Compiled;
  run(compiled: unknown, input: unknown): Evaluated;
}

let shared: Sandbox | undefined;

/** The process's one sandbox. Nothing passes between evaluations: each has its own copy of the input and its own variables. */
export function sandbox(): Sandbox {
  shared ??= open();
  return shared;
}

function open(): Sandbox {
  const context = createContext(Object.create(null), {
    name: 'closeloop expressions',
    microtaskMode: 'afterEvaluate',
    codeGeneration: { strings: false, wasm: false },
  });
  runInContext(readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8'), context);
  runInContext(sandboxSource, context);
  // $base64encode and $base64decode look for a browser's functions at each call.
  context.window = { btoa, atob };
  const compile = new Script('compile()');
  const run = new Script('run()');

  return {
    compile: (source) => {
      context.source = source;
      const report = CompileReport.parse(compile.runInContext(context));
      if ('failure' in report) return { ok: false, failure: report.failure };
      return { ok: true, compiled: report.compiled, ast: report.ast };
    },
    run: (compiled, input) => {
      context.compiled = compiled;
      context.input = JSON.stringify(input) ?? 'null';
      try {
        // V8 cuts off by the clock on the wall: whoever was stopped, or waited for the processor, gets another try.
        for (let wallMs = timeLimitMs; ; wallMs *= 2) {
          const begun = threadMs();
          try {
            const report = RunReport.parse(run.runInContext(context, { timeout: wallMs }));
            if ('failure' in report) return { ok: false, failure: report.failure };
            return { ok: true, value: report.json === undefined ? undefined : JSON.parse(report.json) };
          } catch (error) {
            if (!isTimeout(error)) throw error;
            if (threadMs() - begun >= timeLimitMs * 0.9) return { ok: false, failure: { code: 'time' } };
          }
        }
      } finally {
        // What a record holds isn't kept longer than the evaluation.
        context.compiled = undefined;
        context.input = undefined;
      }
    },
  };
}

/** Time that this thread has worked, as opposed to waited. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function isTimeout(error: unknown): boolean {
  // An error of the context's own kind: `instanceof Error` is false.
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
