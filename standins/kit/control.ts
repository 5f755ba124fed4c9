import { z } from 'zod';
import { orderLine } from './command-line.ts';
import { createRouter, type Params } from './router.ts';
import { jsonBody, type StandinRequest, type StandinResponse } from './message.ts';
import { faultSchema } from './faults.ts';

/** An order that can't be carried out: what is named isn't there, or is in no state for it. 409 over HTTP. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError';
}

/** What a method of a stand-in takes, before it is parsed. */
export type Given<Schema extends z.ZodType> = z.input<Schema>;

/** One order of a control surface: the body (a query for GET) and the ids of the path, parsed once, then carried out. */
export interface ControlRoute {
  method: string;
  template: string;
  /** Of the body, or the query. */
  schema: z.ZodType;
  run(input: unknown): unknown;
}

export function controlRoute<Schema extends z.ZodType>(
  method: string,
  path: string,
  schema: Schema,
  run: (input: z.output<Schema>) => unknown,
): ControlRoute {
  return { method, template: `/_control/${path}`, schema, run: (input) => run(schema.parse(input)) };
}

/**
 * A control surface over HTTP: JSON in, JSON out (`{}` where an order returns nothing). 400 for what is malformed, 409 for
 * what can't be done, 404 for an order that doesn't exist. Ids in the path arrive in the input as numbers.
 */
export function createControlSurface(
  orders: readonly ControlRoute[],
): (req: StandinRequest) => Promise<StandinResponse> {
  const find = createRouter<unknown>(
    orders.map(({ method, template }, index) => ({
      method,
      template,
      answer: () => ({ status: 200, body: { index } }),
    })),
  );
  const byRoute = new Map(orders.map((order) => [`${order.method} ${order.template}`, order]));
  return async (req) => {
    if (req.method === 'GET' && req.path === '/_control/') {
      return { status: 200, body: orderList(orders) };
    }
    const found = find(req.method, req.path);
    const order = found === undefined ? undefined : byRoute.get(`${found.route.method} ${found.route.template}`);
    if (found === undefined || order === undefined) return { status: 404, body: { detail: 'There is no such order.' } };
    try {
      const result = await order.run(inputOf(req, found.params));
      return { status: 200, body: typeof result === 'object' && result !== null ? result : {} };
    } catch (error) {
      if (error instanceof z.ZodError) return { status: 400, body: { detail: z.prettifyError(error) } };
      if (error instanceof ControlError) return { status: 409, body: { detail: error.message } };
      throw error;
    }
  };
}

/** What `GET /_control/` answers: text, an order a line, as people read it. */
export function orderList(orders: readonly Omit<ControlRoute, 'run'>[]): string {
  const faults = ['POST', 'GET', 'DELETE'].map((method) => {
    return { method, template: '/_control/faults', schema: method === 'POST' ? faultSchema : z.unknown() };
  });
  return [...orders, ...faults]
    .map(({ method, template, schema }) => `${orderLine(method, template, schema)}\n`)
    .join('');
}

/** Longer than one attempt. Some vendors go on for a day with a delivery that is refused, and nobody's curl waits that long. */
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

function inputOf(req: StandinRequest, params: Params): unknown {
  const ids = Object.entries(params).filter(([name]) => name !== '_');
  const given = req.method === 'GET' ? Object.fromEntries(req.query) : req.raw.length === 0 ? {} : jsonBody(req);
  if (ids.length === 0 || typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return { ...given, ...Object.fromEntries(ids.map(([name, value]) => [name, asId(value)])) };
}

function asId(value: string): string | number {
  return /^\d{1,15}$/.test(value) ? Number(value) : value;
}
