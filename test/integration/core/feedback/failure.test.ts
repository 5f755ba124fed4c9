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

interface More {
  call?: (client: FeedbackClient) => Promise<unknown>;
  outcome?: string;
  detail?: string;
  fields?: unknown;
}
type Row = [it: string, reply: Reply, advice: object, says: RegExp, more?: More];

const config = { kind: 'config' };
const permanent = { kind: 'permanent' };
const transient = { kind: 'transient' };
const maybeConfig = { kind: 'config', doubtful: true };
const maybePermanent = { kind: 'permanent', doubtful: true };
const throttled = { kind: 'transient', throttled: true };
const said = (status: number, detail: string): Reply => ({ status, body: { detail } });

const rows: Row[] = [
  [
    'tells a key that did not arrive',
    said(401, 'Authentication credentials were not provided.'),
    config,
    /did not arrive.*Authorization header/,
    { detail: 'Authentication credentials were not provided.' },
  ],
  ['tells an unknown key', said(401, 'Invalid token.'), config, /no key with this value exists.*copy the key/],
  ['tells an inactive key', said(401, 'Inactive API key.'), config, /deactivated.*Active switch/],
  ['tells an expired key', said(401, 'Expired API token.'), config, /expired.*clears its expiry/],
  ['takes any other 401 for a bad key', said(401, 'No.'), config, /does not accept the key/, { detail: 'No.' }],
  ['tells a campaign that is not ours', said(403, 'You do not …'), config, /campaign is not active.*another account/],
  [
    'tells an unknown campaign',
    said(404, 'No Campaign matches the given query.'),
    permanent,
    /answered 404 \("No Campaign matches the given query\."\)/,
    {
      call: (c) => c.customFieldStatistics({ campaign: 99 }),
      outcome: 'refused',
      detail: 'No Campaign matches the given query.',
    },
  ],
  ['tells nobody to mask', said(404, 'Not found.'), permanent, /it may be masked/, { call: (c) => c.mask(phone) }],
  [
    'tells a contact path that does not exist from a contact who does not',
    said(404, 'No route'),
    maybeConfig,
    /404/,
    { call: (c) => c.contact(phone), detail: 'No route' },
  ],
  [
    'does not take a failing service for a contact who does not exist',
    said(500, 'Not found.'),
    transient,
    /: the service failed\./,
    { call: (c) => c.contact(phone), outcome: 'unknown', detail: 'Not found.' },
  ],
  [
    'tells a wrong method',
    said(405, 'Method "POST" not allowed.'),
    { kind: 'config', only: 'operation cancel' },
    /not for this method.*feedback\.operations\.cancel/,
    { call: cancel, outcome: 'refused' },
  ],
  [
    'tells a body that was not taken for JSON',
    said(415, 'x'),
    { kind: 'config', doubtful: true, only: 'operation create' },
    /Content-Type application\/json/,
    { call: create, outcome: 'refused' },
  ],
  [
    'tells a path that lost its slash',
    { status: 301, headers: { location: '/api/appeals/' } },
    maybeConfig,
    /redirect.*slash.*feedback\.baseUrl/,
  ],
  ['follows no redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, maybeConfig, /redirect/],
  [
    'names the parameter out of its choices',
    { status: 400, body: { type: ['Select a valid choice. x is not one of the available choices.'] } },
    permanent,
    /it refuses type \(Select a valid choice\. x is not one of the available choices\)\./,
    {
      call: (c) => all(c.campaigns({ type: ['sms'] })),
      fields: { type: ['Select a valid choice. x is not one of the available choices.'] },
    },
  ],
  [
    "tells what is wrong with a contact in the service's words, without the contact",
    { status: 400, body: { phone: ['+37255512345 is not a valid phone number.', 'Mari told it.'] } },
    permanent,
    /it refuses phone \(… is not a valid phone number\)/,
    { call: create, outcome: 'refused' },
  ],
  [
    'tells what the service says of the request as a whole',
    said(400, 'The contact carl@example.com is blacklisted in this campaign.'),
    permanent,
    /400: it says: The contact … is blacklisted in this campaign;/,
    { call: create, outcome: 'refused' },
  ],
  [
    'names no field by what may be a person (audit leak)',
    { status: 400, body: { 'mari@example.com': ['No.'], Agent: ['No.'], 'Mari Maasikas': { phone: ['No.'] } } },
    permanent,
    /it refuses a field whose name is not shown here, Agent \(No\)[.;]/,
    { call: create },
  ],
  [
    'quotes no comment that it sent, in whole or in part',
    said(422, 'The text “Mari told me that it w…” is too short for you'),
    permanent,
    /422: it says: The text … is too short for you;/,
    { call: (c) => c.comment('7', 'Mari told me that it was closed') },
  ],
  [
    'quotes no value of a custom field that it sent',
    { status: 400, body: { Agent: ['Maasikas has left.'], Order: ['Order 4711 of 2026 is no order.'] } },
    permanent,
    /it refuses Agent \(… has left\), Order \(Order … of 2026 is no order\)/,
    { call: (c) => c.create({ campaign: 12, contact: phone, customFields: { Agent: 'Mari Maasikas', Order: 4711 } }) },
  ],
  [
    'quotes no identifier that it looked up',
    said(400, 'There are too many of desk-7.'),
    permanent,
    /it says: There are too many of …/,
    { call: (c) => c.contact({ kind: 'identifier', value: 'desk-7' }) },
  ],
  [
    'waits as long as it is told, in seconds',
    { ...said(429, 'x'), headers: { 'retry-after': '30' } },
    { ...throttled, retryAfterMs: 30_000 },
    /asks to wait/,
    { outcome: 'refused' },
  ],
  [
    'does not know what a failing service did',
    { status: 500, body: '<h1>Oops</h1>' },
    transient,
    /may have done the work/,
    { call: create, outcome: 'unknown' },
  ],
  [
    'waits as long as a failing service says',
    { status: 503, headers: { 'retry-after': '5' } },
    { kind: 'transient', retryAfterMs: 5000 },
    /503/,
    { outcome: 'unknown' },
  ],
  ['takes any other refusal for good', { status: 413, body: 'no' }, maybePermanent, /refuses/],
  [
    'does not know what a web page instead of 201 means',
    { status: 201, headers: { 'content-type': 'text/html' }, body: '<p>Mari Maasikas' },
    transient,
    /without JSON/,
    { call: create, outcome: 'unknown' },
  ],
  [
    'does not know whether a record of another shape was created',
    { status: 201, body: { number: 1, phone: '+37255512345' } },
    maybePermanent,
    /POST \/appeals\/ \(create\) answered 201 in another shape than specified, at id.*feedback\.operations/,
    { call: create, outcome: 'unknown' },
  ],
  [
    'says where a record in a list has another shape',
    { body: { count: 1, next: null, previous: null, results: [{ id: 1, grade: 'Mari Maasikas' }] } },
    maybePermanent,
    /GET \/appeals\/ answered 200 in another shape .* results\.0\.grade; set feedback\.operations/,
    { call: (c) => all(c.requests()) },
  ],
  [
    'does not know how many a mask of another shape masked',
    { body: {} },
    maybePermanent,
    /contact \(expected string\)/,
    { call: (c) => c.mask(phone), outcome: 'unknown' },
  ],
];

// How each status and each refused field is told: test/unit/core/feedback/answer-failure.test.ts.
describe('an answer that is no success', () => {
  test.each(rows)('it %s', async (_, reply, advice, says, { call = campaign, ...more } = {}) => {
    const service = await listen(() => reply);
    const error = await failureOf(call(clientFor(service.url)));
    expect(error).toBeInstanceOf(FeedbackError);
    expect(error).toMatchObject({ status: reply.status ?? 200, advice, ...more });
    expect(adviceOf(error)).toEqual(advice);
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
