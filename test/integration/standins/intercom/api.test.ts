import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startIntercomStandin } from '../../../../standins/intercom/standin.ts';

let server: Awaited<ReturnType<typeof startIntercomStandin>>;
let clock: Date;
beforeEach(async () => {
  clock = new Date('2026-11-20T12:00:01Z');
  server = await startIntercomStandin({ now: () => clock });
});
afterEach(() => server.close());

const Told = z.looseObject({ errors: z.array(z.object({ code: z.string() })).default([]) });

async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${server.standin.accessToken}`, 'intercom-version': '2.16', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const told = Told.parse(await response.json());
  return { status: response.status, code: told.errors[0]?.code, told, headers: response.headers };
}
const search = (query: object, pagination: object = {}, of = 'conversations') =>
  call('POST', `/${of}/search`, { query, pagination });
const by = (field: string, operator: string, value: unknown) => ({ field, operator, value });

describe('it refuses, as Intercom does', () => {
  const rows: [what: string, ask: () => ReturnType<typeof call>, status: number, code: string][] = [
    ['a wrong token', () => call('GET', '/me', undefined, { authorization: 'Bearer x' }), 401, 'unauthorized'],
    [
      'another version',
      () => call('GET', '/me', undefined, { 'intercom-version': '9.9' }),
      400,
      'intercom_version_invalid',
    ],
    ['a path that is none', () => call('GET', '/orders'), 404, 'not_found'],
    ['a conversation that is none', () => call('GET', '/conversations/7'), 404, 'not_found'],
    [
      'a field that can not be searched',
      () => search(by('ticket_state', '=', 'resolved'), {}, 'tickets'),
      400,
      'invalid_field',
    ],
    ['an operator that dates do not take', () => search(by('updated_at', '>=', 1)), 400, 'data_invalid'],
    ['a list of conversations', () => search(by('id', 'IN', ['1'])), 400, 'data_invalid'],
    ['more than 150 a page', () => search(by('id', '=', '1'), { per_page: 151 }), 400, 'invalid_per_page'],
    [
      'sixteen conditions',
      () => search({ operator: 'OR', value: Array(16).fill(by('id', '=', '1')) }),
      400,
      'data_invalid',
    ],
    [
      'a note of nobody',
      () => call('POST', '/conversations/1/reply', { message_type: 'note', type: 'admin', admin_id: '9', body: 'x' }),
      404,
      'admin_not_found',
    ],
    [
      'an attribute that is none',
      () => call('PUT', '/conversations/1', { custom_attributes: { anything: 1 } }),
      400,
      'parameter_invalid',
    ],
    [
      'a value of another type',
      () => call('PUT', '/conversations/1', { custom_attributes: { Grade: 'nine' } }),
      422,
      'type_mismatch',
    ],
    ['a key that is none', () => call('PUT', '/conversations/1', { customAttributes: {} }), 400, 'parameter_invalid'],
    [
      'an admin as text on a ticket',
      () => call('PUT', '/tickets/2', { open: false, admin_id: '7700001' }),
      400,
      'parameter_invalid',
    ],
  ];
  test.each(rows)('%s', async (_what, ask, status, code) => {
    server.standin.addConversation({ id: 1 });
    server.standin.addTicket({ id: 2 });
    server.standin.addAttribute({ name: 'Grade', dataType: 'integer' });
    expect(await ask()).toMatchObject({ status, code });
  });

  test('both attributes of one name, what the token has no right to, and more than the limit', async () => {
    server.standin.addConversation({ id: 1 });
    for (let n = 0; n < 2; n++) server.standin.addAttribute({ name: 'Grade', dataType: 'integer' });
    expect(await call('PUT', '/conversations/1', { custom_attributes: { Grade: 1 } })).toMatchObject({ status: 400 });
    server.standin.changeSettings({ refuses: ['tickets'] });
    expect(await search(by('id', '=', '1'), {}, 'tickets')).toMatchObject({ status: 401, code: 'token_unauthorized' });
    server.standin.changeSettings({ limit: 3 });
    await call('GET', '/me');
    const refused = await call('GET', '/me');
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(refused.headers.get('x-ratelimit-reset')).toBe(String(Date.parse('2026-11-20T12:00:10Z') / 1_000));
    clock = new Date('2026-11-20T12:00:10Z');
    expect(await call('GET', '/me')).toMatchObject({ status: 200 });
  });
});

test('a search shows no parts, cuts times to days or not, lags, and goes on by a cursor', async () => {
  const { standin } = server;
  for (const id of [1, 2, 3]) standin.addConversation({ id });
  await standin.close({ id: 1 });
  const since = Date.parse('2026-11-20T11:00:00Z') / 1_000;
  const ids = async (...given: Parameters<typeof search>) => {
    const { told } = await search(...given);
    return z
      .array(z.object({ id: z.string() }))
      .parse(told.conversations)
      .map(({ id }) => id);
  };
  expect((await search(by('id', '=', '1'))).told.conversations).not.toContainEqual(
    expect.objectContaining({ conversation_parts: expect.anything() }),
  );
  expect(await ids(by('statistics.last_close_at', '>', since))).toEqual([]);
  standin.changeSettings({ searchBy: 'second' });
  expect(await ids(by('statistics.last_close_at', '>', since))).toEqual(['1']);
  const first = await search(by('updated_at', '>', since), { per_page: 2 });
  const { next } = z.object({ next: z.object({ starting_after: z.string() }) }).parse(first.told.pages);
  expect(await ids(by('updated_at', '>', since), { per_page: 2, starting_after: next.starting_after })).toEqual(['3']);
  standin.changeSettings({ indexLagMs: 5_000 });
  await standin.close({ id: 2 });
  expect(await ids(by('state', '=', 'closed'))).toEqual([]);
});

test('a contact who was merged is gone from searches, and says where to', async () => {
  const { standin } = server;
  const [lead, user] = [standin.addContact({ role: 'lead' }).id, standin.addContact({}).id];
  standin.mergeContact({ id: lead, into: user });
  const gone = await call('GET', `/contacts/${lead}`);
  expect(gone).toMatchObject({ status: 410, code: 'contact_merged' });
  expect(gone.headers.get('link')).toBe(`</contacts/${user}>; rel="canonical"`);
  expect((await search(by('id', 'IN', [lead, user]), {}, 'contacts')).told.data).toHaveLength(1);
});

describe('its webhook', () => {
  const taken: { headers: Record<string, string>; body: string }[] = [];
  let statuses: number[] = [];
  let paused: number[] = [];
  beforeEach(async () => {
    await server.close();
    taken.length = 0;
    paused = [];
    server = await startIntercomStandin({
      now: () => clock,
      sleep: async (ms) => void paused.push(ms),
      async fetch(input, init) {
        const { method, headers } = new Request(input, init);
        if (method === 'HEAD') return new Response(null, { status: statuses[0] ?? 200 });
        taken.push({ headers: Object.fromEntries(headers), body: String(init?.body) });
        return new Response(null, { status: statuses.shift() ?? 200 });
      },
    });
    server.standin.addConversation({ id: 1 });
  });
  const url = 'https://closeloop.example/hooks/inbox';

  test('is saved only where a HEAD is answered with 200', async () => {
    statuses = [404];
    await expect(server.standin.saveWebhook({ url })).rejects.toThrow('404');
    statuses = [];
    expect(await server.standin.saveWebhook({ url })).toMatchObject({ url });
  });

  const habits: [what: string, statuses: number[], attempts: number, pauses: number[], isLeft: boolean][] = [
    ['tries once more after a minute', [503, 503, 200], 2, [60_000], true],
    [
      'waits ever longer after a 429, for two hours',
      Array(12).fill(429),
      8,
      [1, 2, 4, 8, 16, 32, 64].map((n) => n * 60_000),
      true,
    ],
    ['is switched off by a 410', [410], 1, [], false],
  ];
  test.each(habits)('it %s', async (_what, answers, attempts, pauses, isLeft) => {
    statuses = [...answers];
    server.standin.setWebhook({ url });
    await server.standin.close({ id: 1 });
    expect([taken.length, paused]).toEqual([attempts, pauses]);
    expect(server.standin.webhook() !== undefined).toBe(isLeft);
  });

  test('tells of a contact that was corrected, and of another that took its place; who began it stays as it was', async () => {
    statuses = [];
    const topics = ['contact.user.updated', 'contact.email.updated', 'conversation.contact.attached'];
    server.standin.setWebhook({ url, topics });
    const { id: contact } = server.standin.addContact({ email: 'old@example.com' });
    server.standin.addConversation({ id: 3, contacts: [contact] });
    await server.standin.changeContact({ id: contact, email: 'new@example.com' });
    const { id: other } = server.standin.addContact({ email: 'other@example.com' });
    await server.standin.replaceContact({ id: 3, contact: other });
    expect(taken.map(({ body }) => JSON.parse(body).topic)).toEqual(topics);
    expect(JSON.parse(taken[0]?.body ?? '').data.item).toMatchObject({ id: contact, email: 'new@example.com' });
    const { told } = await call('GET', '/conversations/3');
    expect(told).toMatchObject({
      source: { author: { id: contact, email: 'old@example.com' } },
      contacts: { contacts: [{ id: other }] },
    });
  });

  test('tells of a ticket by four topics, with its history, and of a conversation with the causing part only', async () => {
    statuses = [];
    server.standin.setWebhook({ url });
    server.standin.addTicket({ id: 2 });
    await server.standin.close({ id: 1 });
    await server.standin.close({ id: 2 });
    const Item = z.looseObject({ topic: z.string(), data: z.object({ item: z.looseObject({}) }) });
    const all = taken.map(({ body }) => Item.parse(JSON.parse(body)));
    expect(all.map(({ topic }) => topic).sort()).toEqual(
      [
        'conversation.admin.closed',
        'conversation.admin.closed',
        'ticket.closed',
        'ticket.resolved',
        'ticket.state.updated',
      ].sort(),
    );
    expect(all[0]?.data.item).toMatchObject({
      id: '1',
      conversation_parts: { conversation_parts: [{ part_type: 'close' }] },
    });
    const nested = all.find(({ topic }) => topic === 'ticket.closed');
    expect(nested?.data.item).toMatchObject({ ticket: { id: '2', ticket_parts: { total_count: 2 } } });
  });
});
