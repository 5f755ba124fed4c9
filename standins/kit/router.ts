import type { StandinResponse } from './message.ts';

/** One request as the vendor's API saw it; calls of the control surface are not logged. */
export interface Call {
  method: string;
  /** The endpoint, ids replaced by names: `/api/v2/tickets/{id}`. The path as it came where no endpoint answers it. */
  path: string;
  at: Date;
}

export type Params = Readonly<Record<string, string>>;

/** An endpoint. `{name}` in the template takes one path segment; `{name:pattern}` only one that matches the pattern. */
export interface Route<Context> {
  method: string;
  template: string;
  answer: (context: Context, params: Params) => StandinResponse | Promise<StandinResponse>;
}

export const route = <Context>(method: string, template: string, answer: Route<Context>['answer']): Route<Context> => ({
  method,
  template,
  answer,
});

export interface Found<Entry> {
  route: Entry;
  params: Params;
  /** For the call log: names without patterns; a parameter called `type` keeps its value. */
  endpoint: string;
}

/** Routes in order, first match wins. `undefined`: no endpoint has this method and path. */
export function createRouter<Entry extends { method: string; template: string }>(
  routes: readonly Entry[],
): (method: string, path: string) => Found<Entry> | undefined {
  const compiled = routes.map((route) => ({ route, pattern: compile(route.template) }));
  return (method, path) => {
    for (const { route, pattern } of compiled) {
      if (route.method !== method) continue;
      const params = pattern.exec(path)?.groups;
      if (params === undefined) continue;
      const decoded = decode(params);
      if (decoded !== undefined) return { route, params: decoded, endpoint: endpointOf(route.template, decoded) };
    }
    return undefined;
  };
}

/** The methods that a path has, in the order of the routes. */
export function methodsAt(
  find: (method: string, path: string) => unknown,
  routes: readonly { method: string }[],
  path: string,
): string[] {
  return [...new Set(routes.map(({ method }) => method))].filter((method) => find(method, path) !== undefined);
}

/** How often each endpoint was called, keyed `GET /api/v2/tickets/{id}`. */
export function countCalls(calls: readonly Call[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method, path } of calls) counts[`${method} ${path}`] = (counts[`${method} ${path}`] ?? 0) + 1;
  return counts;
}

/** A parameter; its pattern may hold counts like {4} and {1,4}. */
const segment = /\{(\w+)(?::((?:[^{}]|\{[\d,]+\})+))?\}/g;

function compile(template: string): RegExp {
  // The empty group makes `groups` an object for templates without a parameter as well.
  const source = template.replace(
    segment,
    (_all, name: string, pattern?: string) => `(?<${name}>${pattern ?? '[^/]+'})`,
  );
  return new RegExp(`^${source}(?<_>)$`);
}

function endpointOf(template: string, params: Params): string {
  return template.replace(segment, (_all, name: string) => (name === 'type' ? (params[name] ?? '') : `{${name}}`));
}

function decode(groups: Record<string, string>): Params | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value ?? '')]));
  } catch {
    return undefined;
  }
}
