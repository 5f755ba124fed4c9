import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openWorkspace as openApi } from '../../../../connectors/intercom/api.ts';
import { events } from '../../../../connectors/intercom/events.ts';
import { intercom } from '../../../../connectors/intercom/intercom.ts';
import { VendorError } from '../../../../core/connector/classify.ts';
import type { Delivery, Source } from '../../../../core/connector/contract.ts';
import { jsonBody } from '../../../../core/connector/json-body.ts';
import { answer, deliveryOf, fixtures, given, settingsOf } from '../../../support/connectors/intercom/workspace.ts';
import { openPorts } from '../../../support/contract/bench.ts';

/* Every signature, webhook, read, write and error of the facts. */

const receivedAt = new Date('2026-11-23T04:00:00Z');
/** The facts call an external grade by its older name. */
const kindOf = (kind: unknown) => (kind === 'graded' ? 'external-grade' : kind);
const listed = (expected: readonly { kind?: unknown }[]) =>
  expected.map(({ kind, ...one }) => expect.objectContaining({ ...one, kind: kindOf(kind) }));
const eventsIn = (one: Delivery, of = settingsOf()) => events(jsonBody(one.raw), one, of);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a webhook of the facts', () => {
  test.each(fixtures.vectors)(
    'its signature is judged: "$name"',
    ({ secrets, header, expect: wanted, body_base64 }) => {
      const headers = header === null ? {} : { 'x-hub-signature': header };
      const source = intercom.open({ ...given, webhookSecrets: secrets }, openPorts().ports);
      expect(source.verify(deliveryOf(Buffer.from(body_base64, 'base64'), headers))).toEqual(
        wanted === 'valid' ? { ok: true } : { ok: false, why: wanted },
      );
    },
  );

  test('its address is tried by a HEAD, which is answered, and by nothing else', () => {
    const { handshake } = intercom.open(given, openPorts().ports);
    const delivery = deliveryOf(Buffer.from(''), {});
    expect(['HEAD', 'POST'].map((method) => handshake?.({ ...delivery, method }))).toEqual([
      { status: 200 },
      undefined,
    ]);
  });

  test.each(fixtures.webhooks)('it understands "$name"', async ({ body, headers, expect: expected }) => {
    const settings = settingsOf({ ratings: true });
    const delivery = deliveryOf(Buffer.from(body), headers, receivedAt);
    expect(intercom.open(given, openPorts().ports).verify(delivery)).toEqual({ ok: true });
    const found = eventsIn(delivery, settings);
    expect(found.ok && plain(found.events)).toEqual(listed(expected));
  });

  test('it gives one closing one key, whichever topic told of it', () => {
    const keys = fixtures.webhooks
      .map(({ body, headers }) => eventsIn(deliveryOf(Buffer.from(body), headers)))
      .flatMap((found) => (found.ok ? found.events : []))
      .flatMap((event) => (event.kind === 'closed' && event.recordId === '215477000000201' ? [event.key] : []));
    expect(keys.length).toBeGreaterThan(3);
    expect(new Set(keys).size).toBe(1);
  });

  test('it passes no rating on unless it is told to, and erases the archived if it is', () => {
    const kinds = (topic: string, more: object) => {
      const { body, headers } = fixtures.webhooks.find((one) => one.topic === topic) ?? expect.fail(topic);
      const found = eventsIn(deliveryOf(Buffer.from(body), headers), settingsOf(more));
      return found.ok ? found.events.map(({ kind }) => kind) : [];
    };
    expect(kinds('conversation.rating.added', {})).toEqual([]);
    expect(kinds('contact.archived', {})).toEqual([]);
    expect(kinds('contact.archived', { eraseArchived: true })).toEqual(['erase']);
  });

  test.each([1e300, -1, 'soon', null])(
    'it takes %j for no time, and the time of receipt in its place',
    (created_at) => {
      const item = {
        id: '7',
        state: 'closed',
        conversation_parts: { conversation_parts: [{ part_type: 'close', created_at }] },
      };
      const body = JSON.stringify({
        app_id: fixtures.appId,
        topic: 'conversation.admin.closed',
        created_at,
        data: { item },
      });
      const found = eventsIn(deliveryOf(Buffer.from(body), {}, receivedAt));
      expect(found).toMatchObject({ ok: true, events: [{ kind: 'closed', recordId: '7', at: receivedAt }] });
    },
  );

  test('it takes nothing of another workspace', () => {
    const [{ body, headers } = expect.fail('none')] = fixtures.webhooks;
    expect(eventsIn(deliveryOf(Buffer.from(body), headers), settingsOf({ workspace: 'other123' }))).toMatchObject({
      events: [],
      ignored: [{ why: 'of another workspace' }],
    });
  });
});

type Answer = { status: number; body?: unknown; text?: string; headers?: Record<string, string> };
/** A source that is answered so, by method and path; what is unknown finds nothing. */
function answered(answers: Readonly<Record<string, Answer>>, more: object = {}) {
  const sent: { call: string; body: unknown }[] = [];
  const { ports } = openPorts({
    async fetch(input, init) {
      const { pathname, search } = new URL(String(input));
      const call = `${init?.method} ${pathname}${search}`;
      sent.push({ call, body: init?.body === undefined ? undefined : JSON.parse(String(init.body)) });
      const empty = { status: 200, body: { conversations: [], tickets: [], data: [], admins: [], teams: [] } };
      const isList = /search|admins|teams/.test(pathname);
      const gone = { status: 404, body: { errors: [{ code: 'not_found' }] } };
      const { status, body, text, headers }: Answer = answers[call] ?? (isList ? empty : gone);
      return new Response(text ?? JSON.stringify(body), { status, headers: headers ?? {} });
    },
  });
  return { source: intercom.open({ ...given, ...more }, ports), sent };
}

const calls = Object.fromEntries(
  fixtures.reads.map(({ request: { method, path }, status, body, headers }) => [
    `${method} ${path}`,
    { status, body, headers },
  ]),
);
const { 'POST /conversations/search': _, 'POST /tickets/search': __, ...readable } = calls;
const named = z.object({ id: z.string() });
const read = async (source: Source, id: string) => (await source.read([id]))[0];

describe('a read of the facts', () => {
  const stated = fixtures.reads.filter(({ expect: expected }) => expected?.state !== undefined);
  test.each(stated)('it presents "$name"', async ({ request, body, expect: expected = {} }) => {
    const id = /\d{15}/.exec(request.path)?.[0] ?? '';
    const { source } = answered({
      ...readable,
      [`GET /conversations/${id}?display_as=plaintext`]: {
        status: 200,
        body: request.path.startsWith('/tickets')
          ? readable[`GET /conversations/${id}?display_as=plaintext`]?.body
          : body,
      },
    });
    const { note: _note, ...record } = expected;
    expect(plain(await read(source, id))).toMatchObject({ ok: true, record });
  });

  test('it leaves out what a bot closed, where it is told to', async () => {
    const { source } = answered(readable, { closedByBots: 'skip' });
    expect(await read(source, '215477000000102')).toMatchObject({ record: { state: { is: 'out' } } });
  });

  test('it finds by search what is there, and asks once more for what is not', async () => {
    const { source, sent } = answered(calls);
    const ids = ['215477000000101', '215477000000104', '215477000000999'];
    const states = (await source.read(ids)).map((one) => (one.ok ? one.record.state.is : one.why));
    expect(states).toEqual(['closed', 'open', 'not-found']);
    expect(sent[0]?.body).toMatchObject(
      z
        .object({ body: z.object({ query: z.unknown() }).transform(({ query }) => ({ query })) })
        .parse(fixtures.reads[7]?.request).body,
    );
    expect(sent.map(({ call }) => call)).toContain('GET /conversations/215477000000999?display_as=plaintext');
  });

  test('it follows a contact who was merged, once, and keeps the id asked for', async () => {
    const { 'POST /contacts/search': _search, ...singly } = readable;
    const conversation = named.loose().parse(fixtures.reads[0]?.body);
    const merged = { ...conversation, contacts: { contacts: [{ id: '6a1f0c3e9d2b4a7f8c5e1d21' }] } };
    const { source } = answered(
      { ...singly, 'GET /conversations/215477000000101?display_as=plaintext': { status: 200, body: merged } },
      { skipContacts: [] },
    );
    expect(await read(source, '215477000000101')).toMatchObject({
      record: { personId: '6a1f0c3e9d2b4a7f8c5e1d21', shape: { contact: { id: '6a1f0c3e9d2b4a7f8c5e1d20' } } },
    });
  });

  test('it asks nobody who must not be mailed', async () => {
    const { 'POST /contacts/search': _search, ...singly } = readable;
    const { source } = answered(singly);
    const state = { is: 'out', why: expect.stringContaining('skipContacts') };
    expect(await read(source, '215477000000101')).toMatchObject({ record: { state } });
  });
});

describe('a write of the facts', () => {
  const writeBack = { grade: 'Feedback grade', comment: 'Feedback comment', answeredAt: 'Feedback date' };
  const item = (recordId: string) =>
    answer(recordId, { grade: 9, comment: 'Alles gut', answeredAt: new Date(1_795_339_200_000) });
  const puts = fixtures.writes.filter(({ request }) => request.method === 'PUT');
  const write = async (name: string, more: object = {}) => {
    const { request, status, body } = puts.find((one) => one.name.startsWith(name)) ?? expect.fail(name);
    const id = /\d{15}/.exec(request.path)?.[0] ?? '';
    const { source, sent } = answered(
      { ...readable, [`PUT ${request.path}`]: { status, body } },
      { writeBack: { ...writeBack, ...more } },
    );
    const [result] = await source.writeBack([item(id)]);
    return { result, request, sent: sent.filter(({ call }) => !call.startsWith('GET') && !call.includes('search')) };
  };

  test('it sends what the facts send, and closes a ticket that it opened', async () => {
    const kept = await write('attributes on a closed');
    expect(kept).toMatchObject({ result: { ok: true, findings: [] }, sent: [{ body: kept.request.body }] });
    const ticket = await write('ticket attributes, open false');
    expect(ticket).toMatchObject({ result: { ok: true, findings: [] }, sent: [{ body: ticket.request.body }] });
    expect(ticket.sent).toHaveLength(1);
    const opened = await write('ticket attributes: it came back open');
    expect(opened.sent.map(({ call, body }) => [call, body])).toEqual([
      ['PUT /tickets/215477000000201', opened.request.body],
      ['PUT /tickets/215477000000201', { open: false, admin_id: 7_700_001 }],
      ['POST /conversations/215477000000201/parts', { message_type: 'close', type: 'admin', admin_id: '7700001' }],
    ]);
  });

  test('it tells what was not kept', async () => {
    const { result } = await write('attribute taken in silence');
    expect(result).toMatchObject({ ok: true, findings: [expect.any(String), expect.any(String)] });
  });

  test.each(['attribute does not exist', 'two attributes of one name'])(
    'it stops for a person at "%s"',
    async (name) => {
      const { result } = await write(name);
      expect(result).toMatchObject({ ok: false, error: { advice: { kind: 'config' } } });
    },
  );
});

describe('an error of the facts', () => {
  test.each(fixtures.errors)('it takes $status $body.errors.0.code as: $advice', async (given_) => {
    const { status, headers, contentType, body, text, advice, now = 0 } = given_;
    const { ports, asked } = openPorts({
      now: () => new Date(now * 1_000),
      fetch: async () =>
        new Response(text ?? JSON.stringify(body), { status, headers: { ...headers, 'content-type': contentType } }),
    });
    const call = openApi(settingsOf(), ports).call({ method: 'GET', path: '/conversations/1' }, z.unknown());
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    if (!(error instanceof VendorError)) return expect.fail('it was taken');
    if (advice === 'gone') return expect(error.isGone).toBe(true);
    expect(error.isGone).toBe(false);
    if (advice.startsWith('follow')) return expect(error.status).toBe(410);
    const [kind] = advice.split(',');
    expect(error.advice).toMatchObject({ kind });
    if (advice.includes('unknown')) expect(error.outcome).toBe('unknown');
    if (!advice.includes('throttled')) return;
    expect(error.advice).toEqual({ kind: 'transient', throttled: true, retryAfterMs: 7_000 });
    expect(asked.pauses).toEqual([7_000]);
  });
});
