import { describe, expect, test } from 'vitest';
import { adviceOf } from '../../../../core/errors.ts';
import type { FeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackError } from '../../../../core/feedback/failure.ts';
import { phone } from '../../../support/core/feedback/samples.ts';
import { all, clientFor, failureOf, listen, type Reply } from '../../../support/core/feedback/service.ts';

const campaign = (c: FeedbackClient) => c.campaign(12);
const create = (c: FeedbackClient) =>
  c.create({ campaign: 12, contact: phone, customFields: { Agent: 'Mari Maasikas' } });
const cancel = (c: FeedbackClient) => c.cancel('901');

interface Row {
  it: string;
  call?: (client: FeedbackClient) => Promise<unknown>;
  reply: Reply;
  expected: { advice: unknown; outcome?: string; detail?: string | undefined; fields?: unknown };
  says: RegExp;
}

const config = { kind: 'config' };
const permanent = { kind: 'permanent' };
const transient = { kind: 'transient' };
const detail = (text: string) => ({ detail: text });

const rows: Row[] = [
  {
    it: 'tells a key that did not arrive',
    reply: { status: 401, body: detail('Authentication credentials were not provided.') },
    expected: { advice: config, detail: 'Authentication credentials were not provided.' },
    says: /did not arrive.*Authorization header/,
  },
  {
    it: 'tells an unknown key',
    reply: { status: 401, body: detail('Invalid token.') },
    expected: { advice: config },
    says: /no key with this value exists.*copy the key/,
  },
  {
    it: 'tells an inactive key',
    reply: { status: 401, body: detail('Inactive API key.') },
    expected: { advice: config },
    says: /deactivated.*Active switch/,
  },
  {
    it: 'tells an expired key',
    reply: { status: 401, body: detail('Expired API token.') },
    expected: { advice: config },
    says: /expired.*clears its expiry/,
  },
  {
    it: 'takes any other 401 for a bad key',
    reply: { status: 401, body: detail('No.') },
    expected: { advice: config, detail: 'No.' },
    says: /does not accept the key/,
  },
  {
    it: 'tells a campaign that is inactive or not ours',
    reply: { status: 403, body: detail('You do not …') },
    expected: { advice: config },
    says: /campaign is not active.*another account/,
  },
  {
    it: 'tells an unknown campaign',
    call: (c) => c.customFieldStatistics({ campaign: 99 }),
    reply: { status: 404, body: detail('No Campaign matches the given query.') },
    expected: { advice: permanent, outcome: 'refused', detail: 'No Campaign matches the given query.' },
    says: /answered 404 \("No Campaign matches the given query\."\)/,
  },
  {
    it: 'tells nobody to mask',
    call: (c) => c.mask(phone),
    reply: { status: 404, body: detail('Not found.') },
    expected: { advice: permanent },
    says: /it may be masked/,
  },
  {
    it: 'tells a contact path that does not exist from a contact who does not',
    call: (c) => c.contact(phone),
    reply: { status: 404, body: detail('No route') },
    expected: { advice: { kind: 'config', doubtful: true }, detail: 'No route' },
    says: /404/,
  },
  {
    it: 'does not take a failing service for a contact who does not exist',
    call: (c) => c.contact(phone),
    reply: { status: 500, body: detail('Not found.') },
    expected: { advice: transient, outcome: 'unknown', detail: 'Not found.' },
    says: /may have done the work/,
  },
  {
    it: 'tells a wrong address from an unknown object',
    reply: { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>404</h1>' },
    expected: { advice: { kind: 'config', doubtful: true } },
    says: /no such path.*feedback\.baseUrl/,
  },
  {
    it: 'tells a wrong method',
    call: cancel,
    reply: { status: 405, body: detail('Method "POST" not allowed.') },
    expected: { advice: { kind: 'config', only: 'operation cancel' }, outcome: 'refused' },
    says: /not for this method.*feedback\.operations\.cancel/,
  },
  {
    it: 'tells a body that was not taken for JSON',
    call: create,
    reply: { status: 415, body: detail('x') },
    expected: { advice: { kind: 'config', doubtful: true, only: 'operation create' }, outcome: 'refused' },
    says: /Content-Type application\/json/,
  },
  {
    it: 'tells a path that lost its slash',
    reply: { status: 301, headers: { location: '/api/appeals/' } },
    expected: { advice: { kind: 'config', doubtful: true } },
    says: /redirect.*slash.*feedback\.baseUrl/,
  },
  {
    it: 'follows no other redirect either',
    reply: { status: 307, headers: { location: 'http://127.0.0.1:1/' } },
    expected: { advice: { kind: 'config', doubtful: true } },
    says: /redirect/,
  },
  {
    it: 'names the parameter that is missing',
    reply: { status: 400, body: detail('Parameter "campaign" is required.') },
    expected: { advice: permanent, detail: 'Parameter "campaign" is required.' },
    says: /Parameter "campaign" is required\./,
  },
  {
    it: 'names the parameter out of its choices',
    call: (c) => all(c.campaigns({ type: ['sms'] })),
    reply: { status: 400, body: { type: ['Select a valid choice. x is not one of the available choices.'] } },
    expected: {
      advice: permanent,
      fields: { type: ['Select a valid choice. x is not one of the available choices.'] },
    },
    says: /it refuses type \(Select a valid choice\. x is not one of the available choices\)\./,
  },
  {
    it: "tells what is wrong with a contact in the service's words, without the contact",
    call: create,
    reply: { status: 400, body: { phone: ['+37255512345 is not a valid phone number.', 'Mari told it.'] } },
    expected: { advice: permanent, outcome: 'refused' },
    says: /it refuses phone \(… is not a valid phone number\)/,
  },
  {
    it: 'tells what the service says of the request as a whole',
    call: create,
    reply: { status: 400, body: detail('The contact carl@example.com is blacklisted in this campaign.') },
    expected: { advice: permanent, outcome: 'refused' },
    says: /400: it says: The contact … is blacklisted in this campaign;/,
  },
  {
    it: 'names a required custom field that is missing',
    call: create,
    reply: { status: 400, body: { Store: ['This field is required.'] } },
    expected: { advice: permanent, outcome: 'refused', fields: { Store: ['This field is required.'] } },
    says: /it refuses Store \(required\)/,
  },
  {
    it: 'names it also when the service nests it',
    call: create,
    reply: {
      status: 400,
      body: { custom_fields: { Store: ['This field is required.'], 'A.b': 'Bad.' }, campaign: ['No.'] },
    },
    expected: { advice: permanent, fields: { Store: ['This field is required.'], 'A.b': ['Bad.'], campaign: ['No.'] } },
    says: /it refuses Store \(required\), A\.b, campaign \(No\)/,
  },
  {
    it: 'names no field by what may be a person (audit leak)',
    call: create,
    reply: { status: 400, body: { 'mari@example.com': ['No.'], Agent: ['No.'], 'Mari Maasikas': { phone: ['No.'] } } },
    expected: { advice: permanent },
    says: /it refuses a field whose name is not shown here, Agent \(No\)[.;]/,
  },
  {
    it: "tells what can not be cancelled any more in the service's words",
    call: cancel,
    reply: { status: 400, body: detail("Only feedback requests with status 'Scheduled' can be cancelled.") },
    expected: { advice: permanent },
    says: /400: it says: Only feedback requests with status 'Scheduled' can be cancelled;/,
  },
  {
    it: 'quotes no comment that it sent, in whole or in part',
    call: (c) => c.comment('7', 'Mari told me that it was closed'),
    reply: { status: 422, body: detail('The text “Mari told me that it w…” is too short for you') },
    expected: { advice: permanent },
    says: /422: it says: The text … is too short for you;/,
  },
  {
    it: 'quotes no value of a custom field that it sent',
    call: (c) => c.create({ campaign: 12, contact: phone, customFields: { Agent: 'Mari Maasikas', Order: 4711 } }),
    reply: { status: 400, body: { Agent: ['Maasikas has left.'], Order: ['Order 4711 of 2026 is no order.'] } },
    expected: { advice: permanent },
    says: /it refuses Agent \(… has left\), Order \(Order … of 2026 is no order\)/,
  },
  {
    it: 'quotes no identifier that it looked up',
    call: (c) => c.contact({ kind: 'identifier', value: 'desk-7' }),
    reply: { status: 400, body: detail('There are too many of desk-7.') },
    expected: { advice: permanent },
    says: /it says: There are too many of …/,
  },
  {
    it: 'waits as long as it is told, in seconds',
    reply: { status: 429, headers: { 'retry-after': '30' }, body: detail('x') },
    expected: { advice: { kind: 'transient', throttled: true, retryAfterMs: 30_000 }, outcome: 'refused' },
    says: /asks to wait/,
  },
  {
    it: 'waits as long as it is told, as a date',
    reply: { status: 429, headers: { 'retry-after': 'Mon, 02 Mar 2026 10:01:00 GMT' } },
    expected: { advice: { kind: 'transient', throttled: true, retryAfterMs: 60_000 } },
    says: /429/,
  },
  {
    it: 'invents no wait',
    reply: { status: 429, headers: { 'retry-after': 'soon' } },
    expected: { advice: { kind: 'transient', throttled: true } },
    says: /429/,
  },
  {
    it: 'does not know what a failing service did',
    call: create,
    reply: { status: 500, body: '<h1>Oops</h1>' },
    expected: { advice: transient, outcome: 'unknown' },
    says: /may have done the work/,
  },
  {
    it: 'waits as long as a failing service says',
    reply: { status: 503, headers: { 'retry-after': '5' } },
    expected: { advice: { kind: 'transient', retryAfterMs: 5000 }, outcome: 'unknown' },
    says: /503/,
  },
  {
    it: 'takes any other refusal for good',
    reply: { status: 413, body: 'no' },
    expected: { advice: { kind: 'permanent', doubtful: true } },
    says: /refuses/,
  },
  {
    it: 'tells a web page from the service',
    reply: { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<p>Mari Maasikas' },
    expected: { advice: transient, outcome: 'refused' },
    says: /without JSON \(text\/html\)/,
  },
  {
    it: 'does not know what a web page instead of 201 means',
    call: create,
    reply: { status: 201, headers: { 'content-type': 'text/html' }, body: '<p>Mari Maasikas' },
    expected: { advice: transient, outcome: 'unknown' },
    says: /without JSON/,
  },
  {
    it: 'does not know whether a record of another shape was created',
    call: create,
    reply: { status: 201, body: { number: 1, phone: '+37255512345' } },
    expected: { advice: { kind: 'permanent', doubtful: true }, outcome: 'unknown' },
    says: /POST \/appeals\/ \(create\) answered 201 in another shape than specified, at id.*feedback\.operations/,
  },
  {
    it: 'says where a record in a list has another shape',
    call: (c) => all(c.requests()),
    reply: { body: { count: 1, next: null, previous: null, results: [{ id: 1, grade: 'Mari Maasikas' }] } },
    expected: { advice: { kind: 'permanent', doubtful: true } },
    says: /GET \/appeals\/ answered 200 in another shape .* results\.0\.grade; set feedback\.operations/,
  },
  {
    it: 'does not know how many a mask of another shape masked',
    call: (c) => c.mask(phone),
    reply: { body: {} },
    expected: { advice: { kind: 'permanent', doubtful: true }, outcome: 'unknown' },
    says: /contact \(expected string\)/,
  },
];

describe('an answer that is no success', () => {
  test.each(rows)('it $it', async ({ call = campaign, reply, expected, says }) => {
    const service = await listen(() => reply);
    const error = await failureOf(call(clientFor(service.url)));
    expect(error).toBeInstanceOf(FeedbackError);
    expect(error).toMatchObject({ status: reply.status ?? 200, ...expected });
    expect(adviceOf(error)).toEqual(expected.advice);
    expect(String(error)).toMatch(says);
    expect(String(error)).not.toMatch(/Mari|37255512345|k-1/);
    expect(service.received).toHaveLength(1);
  });

  const places: [place: string, call: (client: FeedbackClient) => Promise<unknown>][] = [
    ['GET /appeals/campaigns', (c) => all(c.campaigns())],
    ['GET /appeals/campaigns/12', (c) => c.campaign(12)],
    ['GET /appeals/custom-fields', (c) => c.customFieldStatistics({ campaign: 12 })],
    ['GET /appeals/', (c) => all(c.requests())],
    ['GET /contacts/:contact', (c) => c.contact(phone)],
    ['POST /contacts/:contact/mask', (c) => c.mask(phone)],
    ['GET /contacts/:contact/access-log', (c) => all(c.accessLog(phone))],
    ['GET /surveys/', (c) => all(c.surveys())],
    ['GET /surveys/5', (c) => c.survey(5)],
  ];
  test.each(places)('it names its place, %s', async (place, call) => {
    const service = await listen(() => ({ status: 500 }));
    const error = await failureOf(call(clientFor(service.url)));
    expect(String(error)).toContain(`Feedback service: ${place} answered 500: `);
  });

  test("its own words and the service's are kept apart from what a logger copies", async () => {
    const service = await listen(() => ({ status: 400, body: { detail: 'secret', Store: ['secret'] } }));
    const error = await failureOf(create(clientFor(service.url)));
    expect(error).toMatchObject({ detail: 'secret', fields: { Store: ['secret'] } });
    const copied: string[] = [];
    for (const key in Object(error)) copied.push(key);
    expect(copied).not.toContain('detail');
    expect(copied).not.toContain('fields');
    expect(JSON.stringify(error)).not.toContain('secret');
  });
});
