import { Script } from 'node:vm';
import { Budget, isFunction, measure, measureText, tooMuch } from './expression-budget.ts';
import { distinctIn } from './expression-distinct.ts';
import { type Evaluated, type Failure, limits } from './expression-limits.ts';
import { nameFlawIn } from './expression-names.ts';
import { type JsonataExpression, openRealm } from './expression-realm.ts';

/*
 * JSONata in a JavaScript context of its own, without `process`, `require`, `fetch` and the environment, and with its own built-in objects.
 * Its promises continue in turns: no part of an evaluation runs outside of a turn, and only one evaluation runs in a turn. JSONata calls a
 * function of closeloop after each step, which ends the turn or stops the evaluation. Functions that could run for long, or make something
 * large, within one step, call the same check.
 */

export interface SandboxRecord {
  readonly value: unknown;
}

export interface Compiled {
  readonly ast: unknown;
  readonly expression: JsonataExpression;
}

/** One turn of an evaluation. Call it until it returns a result. */
export type Turn = () => Evaluated | undefined;

class Sandbox {
  /** The budget of the evaluation that has its turn. */
  #budget: Budget | undefined;
  #waiting: (() => void)[] = [];
  readonly #realm = openRealm(() => this.#budget);
  readonly #turn = new Script('go()');

  /** @throws an error with a message and perhaps the position of the mistake */
  compile(source: string): Compiled {
    const expression = this.#realm.jsonata(source, {
      RegexEngine: this.#realm.RegExp,
      stack: limits.depth,
      sequence: limits.list,
    });
    expression.assign(stepEnded, (node: { type: string }, _input: unknown, _environment: unknown, result: unknown) =>
      this.#ended(node.type, result),
    );
    expression.assign('distinct', {
      _jsonata_function: true,
      implementation: distinctIn(() => void this.#budget?.tick()),
    });
    const ast = expression.ast();
    const flaw = nameFlawIn(ast);
    if (flaw !== undefined) throw flaw;
    return { ast, expression };
  }

  record(json: string): SandboxRecord {
    return { value: this.#realm.JSON.parse(json) };
  }

  begin({ expression }: Compiled, { value }: SandboxRecord, timeMs: number): Turn {
    const budget = new Budget(timeMs);
    let result: Evaluated | undefined;
    const failed = (error: unknown): void => {
      result = { ok: false, failure: failureOf(error) };
    };
    const done = (found: unknown): void => {
      try {
        result = { ok: true, value: this.#copied(found) };
      } catch (error) {
        failed(error);
      }
    };
    let go = (): void => this.#realm.settle(expression.evaluate(value), done, failed);
    return () => {
      this.#budget = budget;
      this.#waiting = [];
      budget.beginTurn();
      this.#realm.context.go = go;
      this.#turn.runInContext(this.#realm.context);
      this.#budget = undefined;
      budget.endTurn();
      const waiting = this.#waiting;
      go = () => {
        for (const resume of waiting) resume();
      };
      return result;
    };
  }

  /** JSONata calls this after each step. @returns a promise for which JSONata waits until the next turn */
  #ended(type: string, result: unknown): Promise<void> | undefined {
    if (typeof result === 'string') {
      if (result.length > limits.text) throw tooMuch();
      if (!passesOn.has(type)) this.#budget?.make(result.length / 8);
    } else if (typeof result === 'object' && result !== null) {
      if (Array.isArray(result) && result.length > limits.list) throw tooMuch();
      if (!passesOn.has(type)) {
        measure(result);
        this.#budget?.make(Array.isArray(result) ? result.length : Object.keys(result).length);
      }
    }
    return this.#budget?.tick() ? new this.#realm.Promise((resume) => this.#waiting.push(resume)) : undefined;
  }

  /** Copies a value out of the sandbox, without the marks that JSONata leaves on lists. @throws Failure */
  #copied(value: unknown): unknown {
    if (typeof value === 'function' || isFunction(value)) throw { code: 'function' } satisfies Failure;
    if (typeof value === 'number') return finite('', value) === 0 ? 0 : value;
    if (typeof value !== 'object' && typeof value !== 'string') return value;
    if (typeof value === 'string' && value.length < limits.text / 8) return value;
    measureText(value, 0);
    const json = this.#realm.stringify(value, finite);
    if (json.length > limits.text) throw tooMuch();
    return JSON.parse(json);
  }
}

/** The symbol of the function that JSONata calls after each step. */
const stepEnded = Symbol.for('jsonata.__evaluate_exit');
/** Kinds of steps that make no new value: their result was in the record, or another step made it. */
const passesOn = new Set(['variable', 'name', 'value', 'string', 'number', 'parent', 'condition', 'block', 'bind']);

function finite(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw { code: 'D1001' } satisfies Failure;
  return value;
}

function failureOf(error: unknown): Failure {
  const { code, position, token, message, name } = Object(error);
  if (name === 'RangeError') return { code: 'too-much' };
  return { code: typeof code === 'string' ? code : 'unknown', position, token, message };
}

let opened: Sandbox | undefined;

/** The sandbox, opened for the first expression: many commands need no sandbox. */
export function sandbox(): Sandbox {
  opened ??= new Sandbox();
  return opened;
}
