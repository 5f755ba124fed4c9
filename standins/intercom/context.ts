import type { z } from 'zod';
import { jsonBody, Problem, type StandinRequest } from '../kit/message.ts';
import type { Conversation, Part, Settings } from './definitions.ts';
import type { Store } from './store.ts';

/** In Intercom's form. */
export const problem = (status: number, code: string, message: string, headers?: Record<string, string>): Problem =>
  new Problem({
    status,
    ...(headers && { headers }),
    body: { type: 'error.list', request_id: '0003standin', errors: [{ code, message }] },
  });

export const invalid = (message: string): Problem => problem(400, 'parameter_invalid', message);
export const noAdmin = (): Problem => problem(404, 'admin_not_found', 'Admin for admin_id not found');

/** What an endpoint works with. */
export interface Context {
  req: StandinRequest;
  store: Store;
  settings: Settings;
  nowMs: number;
  appId: string;
  /** A part was made; the webhooks are notified. */
  notify(topic: string, one: Conversation, part: Part | undefined): void;
}

/** The JSON body. @param what what the body describes, for the message. @throws Problem 400 */
export function bodyOf<Schema extends z.ZodType>({ req }: Context, schema: Schema, what: string): z.output<Schema> {
  const parsed = schema.safeParse(jsonBody(req));
  if (!parsed.success) throw invalid(`The ${what} is malformed`);
  return parsed.data;
}
