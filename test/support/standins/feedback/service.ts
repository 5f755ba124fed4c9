import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { FieldType } from '../../../../standins/feedback/definitions.ts';
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
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface Service {
  url: string;
  standin: FeedbackStandin;
  /** Makes a call as "GET /appeals/", relative to /api, with key "key"; a body is sent as JSON, text as it is. */
  ask(call: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Answer>;
  control(call: string, body?: unknown): Promise<Answer>;
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
  const send = async (prefix: string, call: string, body: unknown, headers: Record<string, string | undefined>) => {
    const [method = '', path = ''] = call.split(/ (.*)/);
    const sent = { 'content-type': body === undefined ? undefined : 'application/json', ...headers };
    const response = await fetch(`${url}/${prefix}${path}`, {
      method,
      redirect: 'manual',
      headers: Object.entries(sent).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      ),
      // Bytes, as fetch would say of a text what it is.
      ...(body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
    });
    expect(response.headers.get('content-type'), `${call} is answered with JSON`).toBe('application/json');
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    url,
    standin,
    ask: (call, body, headers) => send('api', call, body, { authorization: 'Token key', ...headers }),
    control: (call, body) => send('_control/', call, body, {}),
  };
}

export const envelope = z.strictObject({
  count: z.number(),
  next: z.string().nullable(),
  previous: z.string().nullable(),
  results: z.array(z.looseObject({ id: z.number().optional() })),
});

/** Creates a request and gives its id. */
export async function created({ ask }: Service, body: object): Promise<number> {
  const answer = await ask('POST /appeals/', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

const fields: { name: FieldType; fieldType: FieldType; choices?: string[] }[] = [
  { name: 'Text', fieldType: 'Text' },
  { name: 'Integer', fieldType: 'Integer' },
  { name: 'Date', fieldType: 'Date' },
  { name: 'Time', fieldType: 'Time' },
  { name: 'Date and time', fieldType: 'Date and time' },
  { name: 'Yes/No', fieldType: 'Yes/No' },
  { name: 'Choice', fieldType: 'Choice', choices: ['A', 'B'] },
  { name: 'URL address', fieldType: 'URL address' },
];

/** One campaign of every type (ids 1 to 5), of every other state, and of the other account; and a survey of that one. */
export async function campaigns(options: FeedbackStandinOptions = {}): Promise<Service> {
  const s = await service(options);
  s.standin.addCampaign({ account: 'a', id: 1, type: 'sms', metric: 'csat' });
  s.standin.addCampaign({ account: 'a', id: 2, type: 'email', metric: 'nps', sendDelay: 90 });
  s.standin.addCampaign({ account: 'a', id: 3, type: 'mixed', metric: 'avg', customFields: fields });
  s.standin.addCampaign({ account: 'a', id: 4, type: 'widget', metric: 'avg' });
  s.standin.addCampaign({ account: 'a', id: 5, type: 'external', metric: 'avg' });
  s.standin.addCampaign({ account: 'a', id: 6, type: 'email', metric: 'survey', state: 'inactive' });
  s.standin.addCampaign({ account: 'a', id: 7, type: 'email', state: 'draft' });
  s.standin.addCampaign({ account: 'b', id: 8, type: 'external' });
  s.standin.addSurvey({ account: 'b', id: 71, name: 'Theirs' });
  s.standin.addCampaign({ account: 'a', id: 9, type: 'email', customFields: [{ name: 'Store', required: true }] });
  return s;
}
