import assert from 'node:assert/strict';
import type { PreflightContext, Source } from '../../../core/connector/contract.ts';
import { CloseloopError, messageOf, stackOf } from '../../../core/errors.ts';
import type { BegunResponse, SentRequest } from '../../../core/ports.ts';
import { answer, type Bench, closeOne, openPorts, type Tests } from './bench.ts';
import { type ConnectorSample, customer, secrets } from './sample.ts';

const about: PreflightContext = {
  hookUrl: 'https://closeloop.example/hooks/contract',
  grades: [1, 2, 3],
  reads: [],
  answersWithinMs: 86_400_000,
};

const since = new Date(Date.now() - 3_600_000);

type Doing = [name: string, work: (source: Source, id: string) => Promise<unknown>, changes?: 'changes'];

/** Everything that calls the vendor, and whether that changes something there. */
const doings: Doing[] = [
  ['read', (source, id) => source.read([id])],
  ['write', (source, id) => source.writeBack([answer(id)]), 'changes'],
  ['poll', async (source) => await source.poll?.({ since })],
  ['check', async (source) => await source.check?.(about)],
  [
    'setup',
    async (source) => {
      for (const step of (await source.setup?.(about)) ?? []) await step.apply();
    },
    'changes',
  ],
  ['forget', async (source, id) => await source.forget?.([id]), 'changes'],
  [
    'note of an action',
    (source, recordId) => {
      const request = { recordId, name: 'note', params: customer.comment, marker: 'j0.1.bad.0', closing: '' };
      return source.act?.([{ ...request, again: true }]) ?? Promise.resolve();
    },
    'changes',
  ],
];

/** What an answer that goes wrong says: the words, and everything that was sent. */
type Wrong = (words: string, sent: Sent, real: () => Promise<BegunResponse>) => BegunResponse | Promise<BegunResponse>;
interface Sent {
  method: string;
  url: string;
  headers: string;
  body: string;
}

const all = ({ url, headers, body }: Sent, words: string): string => `${words} ${url} ${headers} ${body}`;

/** In every place where any vendor puts words. */
function said(words: string, sent: Sent): object {
  const text = all(sent, words);
  const about = { propertyName: [words], ids: [words], id: [words], requiredScopes: [words] };
  const one = {
    message: text,
    code: words,
    error: text,
    description: text,
    field: [words],
    value: words,
    path: [words],
  };
  return {
    ...{
      error: text,
      error_description: text,
      description: text,
      message: text,
      detail: text,
      title: text,
      code: words,
    },
    ...{
      status: 'error',
      category: words,
      subCategory: words,
      policyName: words,
      correlationId: words,
      context: about,
    },
    ...{ details: { value: [one], [words]: [one] }, data: { params: { [words]: text }, status: 400, details: one } },
    errors: [{ ...one, context: about, extensions: { code: words, problems: [one] } }],
    [words]: [text],
  };
}

function headersOf(words: string, sent: Sent): Record<string, string> {
  const header = Buffer.from(words).toString('latin1');
  const address = new URL(sent.url);
  const to = `https://user:${encodeURIComponent(words)}@${address.host}${address.pathname}?token=${encodeURIComponent(words)}`;
  return {
    ...{ 'x-request-id': header, 'x-zendesk-request-id': header, 'x-zendesk-api-warn': header },
    ...{ 'x-shopify-api-version': header, 'retry-after': header, 'x-hubspot-correlation-id': header, location: to },
  };
}

const statuses = [302, 400, 401, 402, 403, 404, 405, 409, 410, 413, 422, 423, 429, 430, 477, 500, 502, 503];

const json =
  (status: number): Wrong =>
  (words, sent) =>
    new Response(JSON.stringify(said(words, sent)), {
      status,
      headers: { 'content-type': 'application/json', ...headersOf(words, sent) },
    });
const page =
  (status: number): Wrong =>
  (words, sent) =>
    new Response(`<html>${all(sent, words)}</html>`, {
      status,
      headers: { 'content-type': 'text/html', ...headersOf(words, sent) },
    });

/** Of the same build, with words where something else should be, and as names. */
function garbled(value: unknown, words: string): unknown {
  if (Array.isArray(value)) return value.map((item) => garbled(item, words));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, garbled(item, words)]);
    return Object.fromEntries([...entries, [words, [words]]]);
  }
  return typeof value === 'string' ? { [words]: words } : words;
}

const ofShape: Wrong = async (words, _sent, real) => {
  const { status, headers, text } = await recorded(await real());
  const body = text === null ? '' : JSON.stringify(garbled(JSON.parse(text), words));
  return new Response(status === 204 ? null : body, { status, headers });
};

const wrongs: [name: string, wrong: Wrong][] = [
  ...statuses.map((status): [string, Wrong] => [`${status}`, json(status)]),
  ...[200, 302, 403, 404, 500, 503].map((status): [string, Wrong] => [`a page with ${status}`, page(status)]),
  ['200 and an error', json(200)],
  ['another shape', ofShape],
  [
    'a connection that fails',
    (words, { url }) => {
      const cause = Object.assign(new Error(`connect ECONNREFUSED ${new URL(url).host}`), {
        code: 'ECONNREFUSED',
        words,
      });
      throw new TypeError('fetch failed', { cause: Object.assign(new AggregateError([cause]), { words }) });
    },
  ],
  [
    'an answer that breaks off',
    (words) => {
      const body = new ReadableStream({
        pull(controller) {
          controller.enqueue(Buffer.from(`{"message":"${words}`));
          controller.error(
            new TypeError('terminated', { cause: Object.assign(new Error('other side closed'), { words }) }),
          );
        },
      });
      return new Response(body);
    },
  ],
];

const spoken = [customer.email, '+37255512345', customer.comment];

/** Whatever the vendor answers, wherever: nobody reads it, nor what was sent, in anything that is written. */
export function leaks({ connector, does = [] }: ConnectorSample, bench: () => Bench, { test }: Tests): void {
  for (const [doing, work, changes] of doings) {
    if (doing === 'note of an action' && connector.actions.note === undefined) continue;
    test(`it repeats neither the vendor's words nor what was sent, whatever answers a ${doing} (audit leak)`, async () => {
      const { vendor } = bench();
      const id = await closeOne(bench());
      await bench().source.writeBack([answer(id, { grade: 1, marker: 'j0.1' })]);
      const found = new Set<string>();
      // A setup that the connector doesn't have makes nothing there.
      const isRead = changes === undefined || (doing === 'setup' && !does.includes('setup'));
      const answered = isRead ? sameAnswers() : (_sent: Sent, real: () => Promise<BegunResponse>) => real();
      for (const [wrongName, wrong] of wrongs) {
        for (const [n, words] of spoken.entries()) {
          for (let at = 0; ; at++) {
            const tried = openPorts(vendor.ports);
            const seen = new Set<string>(words === customer.comment ? [words] : [words, encodeURIComponent(words)]);
            let calls = 0;
            const { fetch } = tried.ports;
            const ports = {
              ...tried.ports,
              fetch: async (input: string | URL, init: SentRequest) => {
                const sent = sentBy(input, init);
                for (const secret of secretsIn(sent)) seen.add(secret);
                const real = () => answered(sent, () => fetch(input, init));
                return calls++ === at ? await wrong(words, sent, real) : await real();
              },
            };
            const written: unknown[] = [];
            try {
              const source = connector.open(vendor.settings(secrets), ports);
              written.push(await work(source, id).then(resultOf));
            } catch (error) {
              written.push(told(error));
            }
            const text = [...written, ...tried.asked.logged].join('\n');
            for (const one of [...seen, ...secrets]) {
              if (text.includes(one))
                found.add(
                  `${wrongName}, call ${at}: ${text.slice(Math.max(0, text.indexOf(one) - 150), text.indexOf(one) + 80)}`,
                );
            }
            if (calls <= at) break;
            // Further calls fail no other way: the same words do for them.
            if (at > 8 || n > 0) break;
          }
        }
      }
      assert.deepEqual([...found], []);
    });
  }
}

/** The vendor's answer to the same call, asked for once: where nothing changes there, it says the same each time. */
function sameAnswers() {
  const known = new Map<string, { text: string | null; status: number; headers: Headers }>();
  return async (sent: Sent, real: () => Promise<BegunResponse>): Promise<BegunResponse> => {
    const call = JSON.stringify(sent);
    const answer = known.get(call) ?? (await recorded(await real()));
    known.set(call, answer);
    return new Response(answer.text, answer);
  };
}

async function recorded({ status, body, headers: received }: BegunResponse) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const headers = new Headers([...received]);
  // Of the text that is here, not of what came.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  return { text: text === '' ? null : text, status, headers };
}

/** What is shown of a result: why, and what was found; a record itself is for the rules alone. */
function resultOf(result: unknown): string {
  const shown = (_key: string, value: unknown): unknown => {
    if (value instanceof Error) return told(value);
    if (typeof value !== 'object' || value === null || !('record' in value)) return value;
    return 'a record';
  };
  return JSON.stringify(result, shown) ?? '';
}

/** All that the log and the trace may tell of it. */
function told(error: unknown): string {
  const { advice, reference } = error instanceof CloseloopError ? error : {};
  const texts = [messageOf(error), JSON.stringify({ advice, reference })];
  for (let at = error; at instanceof Error; at = at.cause) texts.push(stackOf(at));
  return texts.join('\n');
}

function sentBy(url: string | URL, { method = 'GET', headers = {}, body = '' }: SentRequest): Sent {
  return { method, url: String(url), headers: JSON.stringify(Object.fromEntries(new Headers(headers))), body };
}

function secretsIn({ url, headers, body }: Sent): string[] {
  const text = `${url} ${headers} ${body}`;
  return [
    ...text.matchAll(/(?:Bearer|Basic|Token) ([\w+/=.-]{8,})/g),
    ...text.matchAll(/"x-shopify-access-token":"([^"]+)"/g),
    ...text.matchAll(/(?:hapikey|consumer_secret|consumer_key|client_secret|refresh_token)["=:]+([\w.-]{8,})/g),
  ].flatMap(([, secret]) => secret ?? []);
}
