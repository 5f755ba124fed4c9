import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import type { FreshdeskAccount } from './account.ts';
import type { Agent, Ticket } from './model.ts';
import { invalid } from './problem.ts';

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  query: Record<string, string>;
  account: FreshdeskAccount;
  agent: Agent;
  now: number;
  /** Whether the key's agent may see it. */
  sees(ticket: Ticket): boolean;
  /** What the call costs beside its one credit. */
  spend(credits: number): void;
}

/** One page as a bare array; `link` while there is more. @param view of a row; the rows come as they are without */
export function listed<Row extends object>(
  { req, query: { page = '1', per_page = '30' } }: Context,
  rows: readonly Row[],
  view: (row: Row) => object = (row) => row,
): StandinResponse {
  const [at, size] = [Number(page), Number(per_page)];
  const wrong = (field: string) =>
    invalid({ field, message: 'It should be a Positive Integer', code: 'invalid_value' });
  if (!Number.isInteger(at) || at < 1) throw wrong('page');
  if (!Number.isInteger(size) || size < 1 || size > 100) throw wrong('per_page');
  const next = new URLSearchParams(req.query);
  next.set('page', String(at + 1));
  const link = `<http://${req.headers.host ?? 'acme.freshdesk.com'}${req.path}?${next}>; rel="next"`;
  return {
    status: 200,
    headers: rows.length > at * size ? { link } : {},
    body: rows.slice((at - 1) * size, at * size).map(view),
  };
}
