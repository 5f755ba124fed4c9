import { z } from 'zod';
import { faultSchema } from './faults.ts';
import { jsonBody, type StandinRequest, type StandinResponse } from './message.ts';
import { createRouter, methodsAt, type Params } from './router.ts';

type Shape = z.core.JSONSchema._JSONSchema;

/**
 * A command of a control surface in one line, for people: `POST /_control/tickets/{id}/solve {actorId?: integer}`. A
 * part of the path is not named again in the body.
 */
export function commandLine(method: string, template: string, schema: z.ZodType): string {
  const inPath = [...template.matchAll(/\{(\w+)/g)].map(([, name = '']) => name);
  const body = inWords(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), inPath);
  const path = template.replaceAll(/\{(\w+):((?:\\d\+)|[^{}]*)\}/g, (_, name, choices: string) =>
    choices.includes('|') ? `{${choices}}` : `{${name}}`,
  );
  return [method, path, ...(['anything', '{}'].includes(body) ? [] : [body])].join(' ');
}

function inWords(shape: Shape, leftOut: readonly string[] = []): string {
  if (typeof shape === 'boolean') return 'anything';
  if (shape.anyOf) {
    const words = new Set(shape.anyOf.map((one) => inWords(one)));
    // A Date, which tests in the same process may give, has no JSON: the string beside it is meant.
    if (words.size > 1) words.delete('anything');
    return [...words].join(' | ');
  }
  if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.type === 'array') return `[${Array.isArray(shape.items) || !shape.items ? '' : inWords(shape.items)}]`;
  if (shape.type !== 'object') return [shape.type ?? 'anything'].flat().join(' | ');
  const { properties = {}, required = [], additionalProperties = false } = shape;
  const named = Object.entries(properties).filter(([name]) => !leftOut.includes(name));
  const parts = named.map(([name, one]) => `${name}${required.includes(name) ? '' : '?'}: ${inWords(one)}`);
  if (additionalProperties !== false) parts.push(`<name>: ${inWords(additionalProperties)}`);
  return `{${parts.join(', ')}}`;
}

/** A command that can't be carried out: the object that the command names isn't there, or is in no state for the command. 409 over HTTP. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError';
}

/** The value under the key. @param what what the value is, for the message @throws ControlError if there is none */
export function held<Key, Value>(all: ReadonlyMap<Key, Value>, key: Key, what: string): Value {
  const found = all.get(key);
  if (found === undefined) throw new ControlError(`there is no ${what} ${key}`);
  return found;
}

/** What a method of a stand-in takes, before it is parsed. */
export type Given<Schema extends z.ZodType> = z.input<Schema>;

/** The form of a definition in which a stand-in stores it, under an id. */
export type Stored<Schema extends z.ZodType, Id = number> = Omit<z.output<Schema>, 'id'> & { id: Id };

/** One command of a control surface: the body (a query for GET) and the ids of the path, parsed once, then carried out. */
export interface Command {
  method: string;
  template: string;
  /** Describes the body, or the query of a GET. */
  schema: z.ZodType;
  run(input: unknown): unknown;
}

/** @param path Behind `/_control/`. */
export function command<Schema extends z.ZodType>(
  method: string,
  path: string,
  schema: Schema,
  run: (input: z.output<Schema>) => unknown,
): Command {
  return { method, template: `/_control/${path}`, schema, run: (input) => run(schema.parse(input)) };
}

/** The schema of a command that takes no input. */
export const nothing = z.unknown();

/**
 * A control surface over HTTP: JSON in, JSON out (`{}` where a command returns nothing). 400 for malformed input, 409 for
 * a command that can't be carried out, 404 and 405 for a command that doesn't exist. Ids in the path arrive in the input as numbers. GET
 * `/_control/` lists the commands; the server itself answers `/_control/faults`.
 */
export function createControlSurface(commands: readonly Command[]): (req: StandinRequest) => Promise<StandinResponse> {
  const find = createRouter(commands);
  return async (req) => {
    if (req.method === 'GET' && req.path === '/_control/') return { status: 200, body: commandList(commands) };
    const found = find(req.method, req.path);
    if (found === undefined) {
      return methodsAt(find, commands, req.path).length > 0
        ? { status: 405, body: { detail: `Method "${req.method}" not allowed.` } }
        : { status: 404, body: { detail: 'There is no such command.' } };
    }
    const input = inputOf(req, found.params);
    if (input === undefined) return { status: 400, body: { detail: 'The body is not JSON.' } };
    try {
      const result = await soon(Promise.resolve(found.route.run(input)));
      return { status: 200, body: typeof result === 'object' && result !== null ? result : {} };
    } catch (error) {
      if (error instanceof z.ZodError) return { status: 400, body: { detail: z.prettifyError(error) } };
      if (error instanceof ControlError) return { status: 409, body: { detail: error.message } };
      throw error;
    }
  };
}

/** The commands as text for people, one a line. */
function commandList(commands: readonly Command[]): string {
  const faults = ['POST', 'GET', 'DELETE'].map((method) => {
    return { method, template: '/_control/faults', schema: method === 'POST' ? faultSchema : nothing };
  });
  return [...commands, ...faults]
    .map(({ method, template, schema }) => `${commandLine(method, template, schema)}\n`)
    .join('');
}

/** Longer than one attempt takes. Some vendors repeat a refused delivery for a day, and nobody's curl waits that long. */
const patienceMs = 6_000;

/** The results, or `{ pending: true }` while attempts are still to come. */
export async function soon<Result>(work: Promise<Result>): Promise<Result | { pending: true }> {
  const { promise: late, resolve } = Promise.withResolvers<{ pending: true }>();
  const timer = setTimeout(() => resolve({ pending: true }), patienceMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined for a body that is not JSON. */
function inputOf(req: StandinRequest, params: Params): unknown {
  const ids = Object.entries(params).filter(([name]) => name !== '_');
  const given = req.method === 'GET' ? Object.fromEntries(req.query) : req.raw.length === 0 ? {} : jsonBody(req);
  if (ids.length === 0 || typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return { ...given, ...Object.fromEntries(ids.map(([name, value]) => [name, asId(value)])) };
}

function asId(value: string): string | number {
  return /^\d{1,15}$/.test(value) ? Number(value) : value;
}
