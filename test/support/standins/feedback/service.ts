import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  type FeedbackStandin,
  type FeedbackStandinOptions,
  startFeedbackStandin,
} from '../../../../standins/feedback/standin.ts';

/** Noon in Tallinn (+02:00) on a Tuesday. */
export const noon = new Date('2026-03-10T10:00:00Z');

export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface Service {
  url: string;
  standin: FeedbackStandin;
  /** Calls `path` under /api with key "key"; a body is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Answer>;
  control(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** A stand-in with account "a" (key "key") and account "b" (key "other"), clock at noon. Ends with the test. */
export async function service(options: FeedbackStandinOptions = {}): Promise<Service> {
  const server = await startFeedbackStandin({ now: () => noon, ...options });
  onTestFinished(() => server.close());
  const { standin, url } = server;
  standin.addAccount({ name: 'a' });
  standin.addAccount({ name: 'b' });
  standin.addKey({ account: 'a', key: 'key' });
  standin.addKey({ account: 'b', key: 'other' });
  const send: Service['call'] = async (method, path, body, headers = {}) => {
    const sent = { 'content-type': body === undefined ? undefined : 'application/json', ...headers };
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: Object.entries(sent).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      ),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    expect(response.headers.get('content-type'), `${method} ${path} answers JSON`).toBe('application/json');
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    url,
    standin,
    call: (method, path, body, headers) =>
      send(method, `/api${path}`, body, { authorization: 'Token key', ...headers }),
    control: (method, path, body) => send(method, `/_control/${path}`, body),
  };
}

export const envelope = z.strictObject({
  count: z.number(),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  results: z.array(z.looseObject({ id: z.number().optional() })),
});

/** Creates a request and gives its id. */
export async function created(service: Service, body: object): Promise<number> {
  const answer = await service.call('POST', '/appeals/', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return z.looseObject({ id: z.number() }).parse(answer.body).id;
}
