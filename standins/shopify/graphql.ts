import { type DocumentNode, execute, GraphQLError, Kind, parse, validate } from 'graphql';
import { z } from 'zod';
import { jsonBody, ok, type StandinRequest, type StandinResponse } from '../kit/message.ts';
import { actualCost, mostPoints, requestedCost, unboundedConnection } from './cost.ts';
import { schema } from './schema.ts';

/** The leaky bucket of one app at one shop: points that come back by the second. */
export class Points {
  /** What all calls were charged together, and how many were refused for lack of points. */
  spent = 0;
  refused = 0;
  #available: number | undefined;
  #at = 0;

  /** Takes what a call may cost. False, and nothing taken, when there isn't enough. */
  take(points: number, limits: Limits, now: number): boolean {
    const available = this.available(limits, now);
    this.#at = now;
    const affordable = points <= available;
    this.#available = affordable ? available - points : available;
    if (affordable) this.spent += points;
    else this.refused++;
    return affordable;
  }

  /** As if other calls had used up the app's points. */
  drain(now: number): void {
    this.#at = now;
    this.#available = 0;
  }

  /** Gives back what a call didn't need. */
  refund(points: number): void {
    this.#available = (this.#available ?? 0) + points;
    this.spent -= points;
  }

  available({ maximumAvailable, restoreRate }: Limits, now: number): number {
    const held = this.#available ?? maximumAvailable;
    return Math.min(maximumAvailable, held + (Math.max(0, now - this.#at) / 1000) * restoreRate);
  }
}

const requestBody = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

interface Limits {
  maximumAvailable: number;
  restoreRate: number;
}

/** One call: everything but a body that is no call is answered with 200, whatever came of it. */
export async function answerGraphql(
  req: StandinRequest,
  root: object,
  { points, limits, now }: { points: Points; limits: Limits; now: number },
): Promise<StandinResponse & { operation?: string }> {
  const given = requestBody.safeParse(jsonBody(req));
  if (!given.success) return { status: 400, body: { errors: { query: 'Required parameter missing or invalid' } } };
  const { query, variables, operationName } = given.data;
  const document = parsed(query);
  if (document instanceof GraphQLError) return refusal([withCode(document, 'syntaxError')]);
  const flaws = validate(schema, document);
  if (flaws.length > 0) return refusal(flaws.map((flaw) => withCode(flaw, 'undefinedField')));
  const open = unboundedConnection(document);
  if (open !== undefined) {
    const message = `you must provide one of first or last on ${open}`;
    return refusal([new GraphQLError(message, { extensions: { code: 'BAD_REQUEST' } })]);
  }
  const operation = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  const requestedQueryCost = requestedCost(document, variables ?? {});
  if (requestedQueryCost > mostPoints) {
    const message = `Query cost is ${requestedQueryCost}, which exceeds the single query max cost limit (${mostPoints}).`;
    return refusal([
      new GraphQLError(message, {
        extensions: { code: 'MAX_COST_EXCEEDED', cost: requestedQueryCost, maxCost: mostPoints },
      }),
    ]);
  }
  const { maximumAvailable, restoreRate } = limits;
  const currentlyAvailable = () => Math.floor(points.available(limits, now));
  const status = () => ({ maximumAvailable, restoreRate, currentlyAvailable: currentlyAvailable() });
  const name = operation?.name?.value ?? 'unnamed';
  if (!points.take(requestedQueryCost, limits, now)) {
    const errors = [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }];
    const extensions = { cost: { requestedQueryCost, actualQueryCost: null, throttleStatus: status() } };
    return { status: 200, body: { errors, extensions }, operation: name };
  }
  const result = await execute({
    schema,
    document,
    rootValue: root,
    variableValues: variables ?? {},
    ...(operationName != null && { operationName }),
  });
  const actualQueryCost = Math.min(requestedQueryCost, actualCost(result.data, operation?.operation === 'mutation'));
  points.refund(requestedQueryCost - actualQueryCost);
  return {
    status: 200,
    operation: name,
    body: {
      ...(result.data === undefined ? {} : { data: result.data }),
      ...(result.errors === undefined
        ? {}
        : { errors: result.errors.map((one) => withCode(one, 'INVALID_VARIABLE').toJSON()) }),
      extensions: { cost: { requestedQueryCost, actualQueryCost, throttleStatus: status() } },
    },
  };
}

function parsed(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

function refusal(errors: readonly GraphQLError[]): StandinResponse {
  return ok({ errors: errors.map((one) => one.toJSON()) });
}

/** Every error of Shopify's has one. An error of this stand-in's own is one of Shopify's servers. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  if (error.extensions.code !== undefined) return error;
  const own = error.originalError !== undefined && !(error.originalError instanceof GraphQLError);
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    path: error.path,
    extensions: { code: own ? 'INTERNAL_SERVER_ERROR' : code },
  });
}
