import { afterEach, beforeEach, expect, test } from 'vitest';
import { startIntercomStandin } from '../../../../standins/intercom/standin.ts';

/* What Intercom refuses or does in a way of its own, and the connector never provokes. */

let server: Awaited<ReturnType<typeof startIntercomStandin>>;
let clock: Date;
/** What the receiver of webhooks answers. */
let status: number;
beforeEach(async () => {
  clock = new Date('2026-11-20T12:00:01Z');
  server = await startIntercomStandin({ now: () => clock, fetch: async () => new Response(null, { status }) });
  server.standin.addConversation({ id: 1 });
  server.standin.addTicket({ id: 2 });
  server.standin.addAttribute({ name: 'Grade', dataType: 'integer' });
});
afterEach(() => server.close());

async function call(what: string, body?: object, headers: Record<string, string> = {}) {
  const [method = '', path = ''] = what.split(' ');
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${server.standin.accessToken}`, 'intercom-version': '2.16', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = JSON.parse(await response.text());
  return { status: response.status, code: json.errors?.[0]?.code, json, headers: response.headers };
}
const by = (field: string, operator: string, value: unknown) => ({ query: { field, operator, value }, pagination: {} });
const search = 'POST /conversations/search';
const sixteen = { query: { operator: 'OR', value: Array(16).fill(by('id', '=', '1').query) }, pagination: {} };
const noteOf = (admin_id: string) => ({ message_type: 'note', type: 'admin', admin_id, body: 'x' });
const set = (value: object) => ({ custom_attributes: value });

test.each<
  [
    what: string,
    call: string,
    status: number,
    code: string,
    body?: object | undefined,
    headers?: Record<string, string>,
  ]
>([
  ['a wrong token', 'GET /me', 401, 'unauthorized', undefined, { authorization: 'Bearer x' }],
  ['another version', 'GET /me', 400, 'intercom_version_invalid', undefined, { 'intercom-version': '9.9' }],
  ['a path that is none', 'GET /orders', 404, 'not_found'],
  ['a conversation that is none', 'GET /conversations/7', 404, 'not_found'],
  ['a field that is not searched', 'POST /tickets/search', 400, 'invalid_field', by('ticket_state', '=', 'resolved')],
  ['an operator that dates do not take', search, 400, 'data_invalid', by('updated_at', '>=', 1)],
  ['a list of conversations', search, 400, 'data_invalid', by('id', 'IN', ['1'])],
  ['more than 150 a page', search, 400, 'invalid_per_page', { ...by('id', '=', '1'), pagination: { per_page: 151 } }],
  ['sixteen conditions', search, 400, 'data_invalid', sixteen],
  ['a note of nobody', 'POST /conversations/1/reply', 404, 'admin_not_found', noteOf('9')],
  ['an attribute that is none', 'PUT /conversations/1', 400, 'parameter_invalid', set({ anything: 1 })],
  ['two attributes of one name', 'PUT /conversations/1', 400, 'parameter_invalid', set({ Twice: 1 })],
  ['a value of another type', 'PUT /conversations/1', 422, 'type_mismatch', set({ Grade: 'nine' })],
  ['a key that is none', 'PUT /conversations/1', 400, 'parameter_invalid', { customAttributes: {} }],
  ['an admin as text', 'PUT /tickets/2', 400, 'parameter_invalid', { open: false, admin_id: '7700001' }],
  ['what the token has no right to', 'GET /contacts/1', 401, 'token_unauthorized'],
])('it refuses %s', async (_what, what, status, code, body, headers) => {
  for (let n = 0; n < 2; n++) server.standin.addAttribute({ name: 'Twice', dataType: 'integer' });
  server.standin.changeSettings({ refuses: ['contacts'] });
  expect(await call(what, body, headers)).toMatchObject({ status, code });
});

test('it refuses more than the limit until the next ten seconds begin', async () => {
  server.standin.changeSettings({ limit: 1 });
  await call('GET /me');
  const refused = await call('GET /me');
  expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  expect(refused.headers.get('x-ratelimit-reset')).toBe(String(Date.parse('2026-11-20T12:00:10Z') / 1_000));
  clock = new Date('2026-11-20T12:00:10Z');
  expect((await call('GET /me')).status).toBe(200);
});

const url = 'https://closeloop.example/hooks/inbox';

test('its webhook is saved only where a HEAD is answered with 200, and switched off by a 410', async () => {
  status = 404;
  await expect(server.standin.saveWebhook({ url })).rejects.toThrow('404');
  status = 410;
  server.standin.setWebhook({ url });
  await server.standin.close({ id: 1 });
  expect(server.standin.webhook()).toBeUndefined();
});

test('a search cuts times to days, unless told otherwise, and lags when told to', async () => {
  const { standin } = server;
  await standin.close({ id: 1 });
  const count = async () => {
    const since = by('statistics.last_close_at', '>', Date.parse('2026-11-20T11:00:00Z') / 1_000);
    return (await call(search, since)).json.conversations.length;
  };
  const counts = [await count()];
  for (const set of [{ searchBy: 'second' }, { indexLagMs: 5_000 }] as const) {
    standin.changeSettings(set);
    counts.push(await count());
  }
  expect(counts).toEqual([0, 1, 0]);
});
