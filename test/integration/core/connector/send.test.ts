import { createServer, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import { intercom } from '../../../../connectors/intercom/intercom.ts';
import { requestTracker } from '../../../../connectors/request-tracker/request-tracker.ts';
import { shopify } from '../../../../connectors/shopify/shopify.ts';
import { webhook } from '../../../../connectors/webhook/webhook.ts';
import { woocommerce } from '../../../../connectors/woocommerce/woocommerce.ts';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import { exchange } from '../../../../core/connector/exchange.ts';
import { SendFailure, type SendOptions, send } from '../../../../core/connector/send.ts';
import { createVendorApi } from '../../../../core/connector/vendor-api.ts';
import { createFeedbackClient } from '../../../../core/feedback/client.ts';
import { answer } from '../../../support/contract/bench.ts';
import { quietPorts } from '../../../support/contract/quiet-ports.ts';
import { listening } from '../../../support/listening.ts';
import { memoryLog } from '../../../support/loop.ts';

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(listener))}`;
}

const get = (url: string, options: Partial<SendOptions> = {}) =>
  send(exchange, url, { method: 'GET' }, { timeoutMs: 60_000, ...options });

async function failureOf(call: Promise<unknown>): Promise<SendFailure> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof SendFailure ? error : expect.fail(`no SendFailure, but ${error}`);
}

const json = { 'content-type': 'application/json' };
/** As seen: a few megabytes that become more than a gigabyte. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32));
const brackets = Buffer.alloc(8 * 1024 * 1024, '[');

describe('an answer', () => {
  const unbearable: [what: string, body: Buffer, headers: object, message: RegExp][] = [
    ['that is small until it is unpacked', bomb, { 'content-encoding': 'gzip' }, /more than 16 MiB/],
    ['that nests too deep to be parsed', brackets, {}, /nests more than 64 levels deep/],
    ['of too many entries', Buffer.from(`[${'{},'.repeat(400_000)}{}]`), {}, /has more than 300000 entries/],
  ];
  test.each(unbearable)('%s is not read (audit 28)', async (_what, body, headers, message) => {
    const url = await serve((_request, response) => response.writeHead(200, { ...json, ...headers }).end(body));
    const failure = await failureOf(get(url));
    expect([failure.why, failure.outcome]).toEqual(['unbearable', 'unknown']);
    expect(failure.message).toMatch(message);
  });

  const tonu = '{"name":"Tõnu"}';
  const charsets: [what: string, type: string, body: Buffer, name: string][] = [
    ['without a character set', 'application/json', Buffer.from(tonu), 'Tõnu'],
    ['in UTF-8', 'application/json; charset="UTF-8"', Buffer.from(tonu), 'Tõnu'],
    ['in ISO 8859-1', 'application/json;charset=iso-8859-1', Buffer.from(tonu, 'latin1'), 'Tõnu'],
    ['in UTF-16', 'text/plain; charset=utf-16le', Buffer.from(tonu, 'utf16le'), 'Tõnu'],
    ['in what is called ASCII', 'application/json; charset=us-ascii', Buffer.from(tonu), 'Tõnu'],
    ['in Windows-1257', 'application/json; charset=windows-1257', Buffer.from(tonu, 'latin1'), 'Tõnu'],
  ];
  test.each(charsets)('that comes %s is read by its character set', async (_what, type, body, name) => {
    const url = await serve((_request, response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect((await get(url)).json).toEqual({ name });
  });

  const unknown: [what: string, type: string, body: Buffer, message: string][] = [
    [
      'in an unknown character set',
      'application/json; charset=klingon-8',
      Buffer.from(tonu),
      'an answer that is in an unknown character set (klingon-8)',
    ],
    [
      'in another character set than it names',
      'application/json; charset=shift_jis',
      Buffer.from('{"name":"\xff"}', 'latin1'),
      'an answer that is not in the character set that it names (shift_jis)',
    ],
    ['in Latin 1, unnamed', 'application/json', Buffer.from(tonu, 'latin1'), 'an answer that is JSON but not in UTF-8'],
  ];
  test.each(unknown)('that comes %s is refused by name', async (_what, type, body, message) => {
    const url = await serve((_request, response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(await failureOf(get(url))).toMatchObject({ why: 'unbearable', message });
  });

  test.each([
    ['a page in an unknown character set', 'text/html; charset=klingon-8', {}],
    ['the head of a text that is cut within a letter', 'application/json', { head: 11 }],
    ['the head of a text in an unknown character set', 'application/json; charset=klingon-8', { head: 5 }],
  ])('may be %s', async (_what, type, options) => {
    const url = await serve((_request, response) => response.writeHead(200, { 'content-type': type }).end(tonu));
    expect((await get(url, options)).text).toMatch(/^\{"na/);
  });

  test('is given up at its last byte, not its first (audit 28)', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, json).write('[');
      const dripping = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(dripping));
    });
    expect(await failureOf(get(url, { timeoutMs: 100 }))).toMatchObject({ why: 'late', outcome: 'unknown' });
  });

  test('of which only the head counts may go on for ever (audit 28)', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(10_000), (failed) => failed ?? more());
      };
      more();
    });
    expect((await get(url, { head: 10 })).text).toBe('xxxxxxxxxx');
  });

  test.each([
    ['a page without end', Buffer.alloc(2 * 1024 * 1024, 'x')],
    ['brackets', brackets],
  ])('that is an error speaks for itself, whatever its body is: %s (audit 28)', async (_what, body) => {
    const url = await serve((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end(body));
    const answer = await get(url);
    expect([answer.status, answer.text, answer.json, answer.headers.get('retry-after')]).toEqual([
      503,
      '',
      undefined,
      '7',
    ]);
  });

  test('that came whole is limited as any is, and of it only the head is taken', async () => {
    const giving = (text: string) => async () => {
      const bytes = Buffer.from(text);
      const body = { whole: bytes, [Symbol.asyncIterator]: () => Readable.from([bytes])[Symbol.asyncIterator]() };
      return { status: 200, headers: new Headers(), body };
    };
    const whole = (text: string, options: Partial<SendOptions> = {}) =>
      send(giving(text), 'http://127.0.0.1:9', {}, { timeoutMs: 60_000, ...options });
    expect((await whole('[1,2]')).json).toEqual([1, 2]);
    expect((await whole('[1,2]', { head: 2 })).text).toBe('[1');
    expect((await failureOf(whole('x'.repeat(17 * 1024 * 1024)))).why).toBe('unbearable');
  });

  test('that is a redirect is not followed (audit 28)', async () => {
    const url = await serve((request, response) =>
      request.url === '/' ? response.writeHead(301, { location: '/there' }).end() : response.end('followed'),
    );
    expect(await get(url)).toMatchObject({ status: 301, ok: false });
  });
});

describe('every client', () => {
  const secrets = ['k'.repeat(32)];
  const endless: typeof globalThis.fetch = async () => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(1024 * 1024, 32)) });
    return new Response(body, { headers: json });
  };
  const ports = quietPorts({ fetch: endless, log: memoryLog().log });
  const settings = {
    baseUrl: 'http://127.0.0.1:9/api',
    apiKey: 'k',
    timeZone: 'UTC',
    timeoutMs: 60_000,
    callsAtOnce: 1,
    environment: 'production',
  } as const;
  const reading =
    (
      connector:
        | typeof zendesk
        | typeof hubspot
        | typeof shopify
        | typeof woocommerce
        | typeof requestTracker
        | typeof intercom,
      given: object,
      id = '7',
    ) =>
    () =>
      connector.open({ ...given, webhookSecrets: secrets }, ports).read([id]);
  const clients: [name: string, call: () => Promise<unknown>][] = [
    ['of the service', () => createFeedbackClient(settings, ports).campaign(1)],
    [
      'of a connector somebody else wrote',
      () =>
        createVendorApi({ name: 'x', baseUrl: 'http://127.0.0.1:9' }, ports).call(
          { method: 'GET', path: '/x' },
          z.unknown(),
        ),
    ],
    ['of Zendesk', reading(zendesk, { subdomain: 'acme', clientId: 'c', clientSecret: 's' })],
    ['of HubSpot', reading(hubspot, { accessToken: 'pat-x' }, 'ticket-7')],
    ['of Shopify', reading(shopify, { shop: 'acme.myshopify.com', accessToken: 'shpat_1' })],
    ['of Woo', reading(woocommerce, { site: 'https://acme.example', consumerKey: 'ck_1', consumerSecret: 'cs_1' })],
    ['of Request Tracker', reading(requestTracker, { address: 'https://rt.example.com', token: '1-27-ab' })],
    ['of Intercom', reading(intercom, { workspace: 'k7p2m4xq', accessToken: 't', adminId: 1 })],
    [
      'of a receiver of answers, that needs not read it',
      async () => {
        const signing = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
        const source = webhook.open(
          {
            signature: { kind: 'standard', secrets: [signing] },
            event: { closed: 'true', record: 'id' },
            writeBack: { url: 'http://127.0.0.1:9/x', secrets: [signing], allowPrivate: true },
          },
          ports,
        );
        const [result] = await source.writeBack([answer('7')]);
        if (result?.ok) throw new Error('taken, of more than 16 MiB');
      },
    ],
  ];
  test.each(clients)('%s stops at an answer without end (audit 28)', async (_name, call) => {
    await expect(call()).rejects.toThrow(/more than 16 MiB/);
  });
});

test('a credential that no header takes is a mistake of the configuration, and quoted nowhere (audit leak)', async () => {
  const headers = { authorization: 'Bearer S3CR3T-\n-S3CR3T' };
  const error: unknown = await send(exchange, 'http://127.0.0.1:9', { headers }, { timeoutMs: 1_000 }).catch(
    (e: unknown) => e,
  );
  expect(error).toMatchObject({ advice: { kind: 'config' }, outcome: 'never-sent' });
  expect(inspect(error, { depth: 10 })).not.toContain('S3CR3T');
});
