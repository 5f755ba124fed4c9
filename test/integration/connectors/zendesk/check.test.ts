import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Finding, PreflightContext } from '../../../../core/connector/contract.ts';
import { serve } from '../../../../standins/kit/server.ts';
import {
  type Account,
  about,
  day,
  hookUrl,
  ids,
  openAccount,
  secret,
  writeBack,
} from '../../../support/connectors/zendesk/preflight.ts';

let account: Account;
beforeEach(async () => {
  account = await openAccount();
  account.standin.setWebhook({ url: hookUrl, secrets: [secret] });
});
afterEach(() => account.close());

async function check(settings: object = {}, going: Partial<PreflightContext> = {}): Promise<Finding[]> {
  return (await account.open(settings).check?.({ ...about, ...going })) ?? [];
}

test('it finds nothing where a trigger calls the webhook', async () => {
  account.standin.setWebhook({ url: hookUrl, secrets: [secret], style: 'trigger' });
  expect(await check({ webhookSecrets: ['the next one', secret] })).toEqual([]);
});

test('it changes nothing', async () => {
  await check();
  const methods = Object.keys(account.standin.callCounts()).filter((call) => !call.startsWith('GET '));
  expect(methods).toEqual(['POST /oauth/tokens']);
});

test('it takes plain read and write for every scope', async () => {
  expect(await check({ scope: 'read write' })).toEqual([]);
});

test('it is content with late answers that have a place besides the closed ticket', async () => {
  expect(await check({}, { answersWithinMs: 60 * day })).toEqual([]);
});

test('it warns of a missing address of our own, and checks the rest', async () => {
  const { hookUrl: _missing, ...going } = about;
  account.standin.ticketField(ids.comment).active = false;
  expect(await account.open().check?.(going)).toMatchObject([
    { level: 'warning', at: 'http.publicUrl' },
    { level: 'error', at: 'writeBack.comment' },
  ]);
});

test('it refuses an address of our own without https', async () => {
  const url = 'http://closeloop.example.com/hooks/support';
  account.standin.setWebhook({ url, secrets: [secret] });
  const toStandin: typeof fetch = (input, init) =>
    fetch(String(input).replace('https://acme.zendesk.com', account.url), init);
  const source = account.open({ baseUrl: undefined }, toStandin);
  expect(await source.check?.({ ...about, hookUrl: url })).toMatchObject([{ level: 'error', at: 'http.publicUrl' }]);
});

test.each([
  ['triggers', 'trigger'],
  ['automations', 'automation'],
  ['webhooks', 'webhook'],
  ['signing_secret', 'webhook'],
  ['ticket_fields', 'writeBack'],
  ['user_fields', 'writeBack.userFields'],
  ['custom_objects', 'writeBack'],
  ['account/settings', 'account'],
  ['incremental', 'poll'],
])('it goes on when %s can not be read', async (path, at) => {
  account.standin.changeSettings({ admin: { customerSatisfaction: true } });
  account.standin.faults.add({ path, status: 503, body: '<html>' });
  const found = await check();
  const isOfReading = (finding: Finding) => finding.at !== 'account' || path === 'account/settings';
  expect(found.filter(isOfReading)).toMatchObject([{ level: 'error', at, problem: expect.stringContaining('503') }]);
  expect(found.map((finding) => finding.at)).toContain('account');
});

test('it finds everything in one run, and tells no secret', async () => {
  account.standin.setWebhook({ url: hookUrl, secrets: ['not to be told'] });
  account.standin.ticketField(ids.comment).active = false;
  account.standin.changeSettings({ admin: { customerSatisfaction: true } });
  const found = await check({ integrationUserId: 1 });
  expect(found.map(({ at }) => at)).toEqual(['integrationUserId', 'account', 'webhookSecrets', 'writeBack.comment']);
  expect(JSON.stringify(found)).not.toMatch(
    new RegExp(`not to be told|${secret}|${account.standin.credentials.clientSecret}`),
  );
});

interface Planted {
  plant?: (account: Account) => unknown;
  settings?: object;
  going?: Partial<PreflightContext>;
}
type Expected = [level: Finding['level'], at: string, words: RegExp];

const wrote = (part: object): Planted => ({ settings: { writeBack: { ...writeBack, ...part } } });
const reads = (...path: string[]): Planted => ({ going: { reads: [{ at: 'rules[0].when', path }] } });
const scoped = (scope: string, writes?: object): Planted => ({
  settings: { scope, ...(writes && { writeBack: writes }) },
});
const planted = (plant: (account: Account) => unknown, more: Omit<Planted, 'plant'> = {}): Planted => ({
  plant,
  ...more,
});
const changed = (settings: object) => planted(({ standin }) => standin.changeSettings(settings));
const field = (id: number, change: object) =>
  planted(({ standin }) => void Object.assign(standin.ticketField(id), change));
const webhook = (given: object, after?: (standin: Account['standin']) => unknown) =>
  planted(({ standin }) => {
    standin.setWebhook({ url: hookUrl, secrets: [secret], ...given });
    after?.(standin);
  });

const rows: [name: string, planted: Planted, ...expected: Expected[]][] = [
  // Access
  ['a wrong client secret', { settings: { clientSecret: 'wrong' } }, ['error', 'access', /OAuth client/]],
  [
    'a help desk that does not answer',
    { settings: { baseUrl: 'http://127.0.0.1:9' } },
    ['error', 'access', /no connection/],
  ],
  [
    'a service user that was suspended',
    planted(({ standin }) => standin.changeUser({ id: 9900, suspended: true })),
    ['error', 'access', /owner of the OAuth client/],
  ],
  ['a service user that is no admin', changed({ apiRole: 'agent' }), ['error', 'access', /role agent.*admin/]],
  ['no scope for tickets', scoped('read users:write', { tags: true }), ['error', 'scope', /tickets:write/]],
  ['no scope for surveys', scoped('read', { answers: { 17: ids.comment } }), ['error', 'scope', /tickets:write/]],
  [
    'no scope for user fields',
    scoped('read tickets:write', { userFields: { grade: 'last_grade' } }),
    ['error', 'scope', /users:write/],
  ],
  ['no scope to read', scoped('tickets:read write users:read'), ['error', 'scope', /lacks the scope read /]],
  [
    'no scope to look at anything, its own user included',
    scoped('tickets:write'),
    ['error', 'access', /the scope "read"/],
  ],
  [
    'a scope that the client may not have',
    changed({ admin: { clientScopes: ['read'] } }),
    ['error', 'access', /may not have the scope "read write"/],
  ],
  [
    'an invented scope, and all that it forbids',
    scoped('read,tickets:write'),
    ['error', 'scope', /knows no scope "read,tickets:write"/],
    ['error', 'access', /scope/],
  ],
  [
    'a legacy API token',
    { settings: { email: 'integration@example.com', apiToken: 'zendesk-api-token' } },
    ['warning', 'apiToken', /2027-04-30.*30 days/],
  ],
  [
    'another user as the integration',
    { settings: { integrationUserId: 4711 } },
    ['warning', 'integrationUserId', /9900/],
  ],
  [
    'an incremental export that is refused',
    planted(({ standin }) => standin.faults.add({ path: 'incremental', status: 403, body: { error: 'Forbidden' } })),
    ['error', 'access', /only admins may ask/],
  ],

  // The webhook
  [
    'no webhook',
    { plant: ({ standin }) => standin.removeWebhooks() },
    ['error', 'webhook', /webhook that delivers to .* is missing/],
  ],
  [
    'a webhook that points elsewhere',
    webhook({ url: 'https://old.example.com/hooks/support' }),
    ['error', 'webhook', /webhook that delivers to .* is missing/],
  ],
  ['an inactive webhook', webhook({ active: false }), ['error', 'webhook', /webhook that delivers to .* is inactive/]],
  [
    'a webhook subscribed to something else',
    webhook({ subscriptions: ['ticket.created'] }),
    ['error', 'webhook', /not subscribed to "Ticket status changed"/],
  ],
  ['a webhook that sends by PUT', webhook({ httpMethod: 'PUT' }), ['error', 'webhook', /POST json/]],
  [
    'a connected webhook that no trigger calls',
    webhook({ style: 'trigger' }, ({ admin }) => Object.assign(admin, { triggers: [] })),
    ['error', 'webhook', /no trigger calls it/],
  ],
  [
    'a connected webhook whose trigger is inactive',
    webhook({ style: 'trigger' }, ({ admin }) =>
      admin.triggers.map((trigger) => Object.assign(trigger, { active: false })),
    ),
    ['error', 'webhook', /"Call closeloop", which is inactive/],
  ],
  [
    'a trigger that does not say which ticket',
    webhook({ style: 'trigger', template: '{"status": "{{ticket.status}}"}' }),
    ['error', 'webhook', /doesn't name the ticket/],
  ],
  [
    'two webhooks',
    { plant: ({ standin }) => standin.addWebhook({ name: 'second', url: hookUrl, secrets: [secret] }) },
    ['warning', 'webhook', /2 webhooks tell us the same: "closeloop", "second"/],
  ],
  [
    'another signing secret',
    webhook({ secrets: ['somebody else has it'] }),
    ['error', 'webhookSecrets', /Reveal secret/],
  ],
  [
    'deliveries that fail',
    {
      plant: async ({ standin }) => {
        const refusing = await serve(async () => ({ status: 401 }));
        const held = standin.setWebhook({ url: refusing.url, secrets: [secret] });
        const customer = standin.addUser({}).id;
        await standin.solve(standin.addTicket({ requesterId: customer, assigneeId: 9900 }).id);
        held.url = hookUrl;
        await refusing.close();
      },
    },
    ['error', 'webhook', /1 of the latest 1 deliveries.*client error/],
  ],

  // Fields that are written; what setup can mend: setup-fields.test.ts
  ['a field that does not exist', wrote({ grade: 999 }), ['error', 'writeBack.grade', /999 does not exist/]],
  [
    'a title that does not exist',
    wrote({ comment: 'What they said' }),
    ['error', 'writeBack.comment', /"What they said" does not exist.*setup/],
  ],
  [
    'a title that two fields have',
    planted(({ standin }) => standin.addTicketField({ title: 'Comment', type: 'text' }), wrote({ comment: 'Comment' })),
    ['error', 'writeBack.comment', /2 times/],
  ],
  ['an inactive field', field(ids.comment, { active: false }), ['error', 'writeBack.comment', /inactive/]],
  ['a field of the wrong type', wrote({ answeredAt: ids.store }), ['error', 'writeBack.answeredAt', /type tagger/]],
  ["one of Zendesk's own fields", wrote({ status: 102 }), ['error', 'writeBack.status', /own fields/]],
  [
    'grade values that are no options',
    wrote({ gradeValues: { 1: 'fb_bad' } }),
    ['error', 'writeBack.grade', /"fb_bad"/],
  ],
  [
    'a pattern that refuses grades',
    field(ids.grade, { type: 'regexp', regexp: '\\A[1-4]\\z' }),
    ['error', 'writeBack.grade', /pattern.*"5"/],
  ],
  [
    'a checkbox that is to hold words',
    { ...field(ids.grade, { type: 'checkbox' }), ...wrote({ gradeValues: { 1: 'bad' } }) },
    ['error', 'writeBack.gradeValues', /"true" and "false"/],
  ],
  ['one field for two parts', wrote({ status: ids.comment }), ['error', 'writeBack.status', /also writeBack.comment/]],
  [
    'a field that agents may not edit',
    field(ids.comment, { agentCanEdit: false }),
    ['warning', 'writeBack.comment', /edited by agents/],
  ],
  [
    'a field that is required to solve',
    field(ids.comment, { required: true }),
    ['warning', 'writeBack.comment', /required to solve/],
  ],
  [
    'a user field of the wrong type',
    planted(
      ({ standin }) => standin.addUserField({ key: 'since', type: 'date' }),
      wrote({ userFields: { grade: 'since' } }),
    ),
    ['error', 'writeBack.userFields.grade', /type date/],
  ],

  // Fields that rules read
  [
    'a rule that reads a field that is not there',
    reads('ticket', 'fields', 'shop'),
    ['error', 'rules[0].when', /ticket\.fields\.shop, but no ticket field/],
  ],
  ['a rule that reads the id of no field', reads('ticket', 'fields', '999'), ['error', 'rules[0].when', /999/]],
  [
    "a rule that reads one of Zendesk's own as a field",
    reads('ticket', 'fields', 'priority'),
    ['error', 'rules[0].when', /own fields/],
  ],
  [
    'a rule that reads an inactive field',
    { ...field(ids.store, { active: false }), ...reads('ticket', 'fields', 'store') },
    ['error', 'rules[0].when', /inactive/],
  ],
  [
    'a rule that reads the label of a text',
    reads('ticket', 'labels', 'plain'),
    ['error', 'rules[0].when', /only dropdowns/],
  ],
  [
    'a rule that reads a user field that is not there',
    reads('requester', 'fields', 'vip'),
    ['error', 'rules[0].when', /key "vip"/],
  ],
  [
    'a rule that reads what is not in a record',
    {
      going: {
        reads: [
          { at: 'rules[0].when', path: ['ticket', 'grup', 'name'] },
          { at: 'rules[0].contact[0]', path: ['requester', 'emial'] },
          { at: 'rules[0].fields.Owner', path: ['owner', 'name'] },
        ],
      },
    },
    ['warning', 'rules[0].when', /ticket has no grup.*There are: .*group/],
    ['warning', 'rules[0].contact[0]', /requester has no emial.*email/],
    ['warning', 'rules[0].fields.Owner', /record has no owner.*assignee/],
  ],

  // What else the account does
  ['satisfaction ratings', changed({ admin: { customerSatisfaction: true } }), ['warning', 'account', /asked twice/]],
  [
    'an automation that sends a survey',
    {
      plant: ({ standin }) =>
        standin.addAutomation({
          title: 'Rate us',
          actions: [
            { field: 'notification_user', value: ['requester_id', 'How was it?', '{{satisfaction.rating_section}}'] },
          ],
        }),
    },
    ['warning', 'automation', /"Rate us".*asked twice/],
  ],
  [
    'a trigger that offers a rating',
    planted(({ standin }) =>
      standin.addTrigger({ title: 'Offer', actions: [{ field: 'satisfaction_score', value: 'offered' }] }),
    ),
    ['warning', 'trigger', /"Offer"/],
  ],
  [
    "tickets that close before a survey's answers come",
    { settings: { writeBack: { answers: { 17: ids.comment } } }, going: { answersWithinMs: 10 * day } },
    ['warning', 'automation', /4 days.*10 days/],
  ],
  [
    'tickets that close before answers come',
    { ...wrote({ whenClosed: [], customObject: undefined }), going: { answersWithinMs: 10 * day } },
    ['warning', 'automation', /4 days.*10 days.*whenClosed: edit, userFields or customObject/],
  ],
  [
    'answers that come after Zendesk closes everything',
    planted(({ standin: { admin } }) => Object.assign(admin, { automations: [] }), {
      ...wrote({ whenClosed: [], customObject: undefined }),
      going: { answersWithinMs: 60 * day },
    }),
    ['warning', 'automation', /Zendesk itself.*28 days/],
  ],
];

describe('it finds', () => {
  test.each(rows)('%s, and nothing else', async (_name, { plant, settings, going }, ...expected) => {
    await plant?.(account);
    const found = await check(settings, going);
    expect(found.map(({ level, at }) => [level, at])).toEqual(expected.map(([level, at]) => [level, at]));
    found.forEach((finding, index) => {
      expect(`${finding.problem} ${finding.remedy}`).toMatch(expected[index]?.[2] ?? /never/);
    });
  });
});
