import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { openScenario, outOfOrder } from '../../support/scenario.ts';
import { standinHere } from '../../support/standin-here.ts';

// Many short-lived processes: on a busy machine each takes seconds to begin.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

// One story in the order of its tests: each goes on where the one before ended.
const redis = useRedis();
let on: Awaited<ReturnType<typeof openScenario>>;
let desk: Awaited<ReturnType<typeof standinHere>>;

const personal = /carl@example|Carl|Great "help"|Not so great|vera@example|Vera/;

const Ticket = z.object({
  ticket: z.object({ status: z.string() }),
  tags: z.array(z.string()),
  fields: z.record(z.string(), z.unknown()),
  audits: z.array(z.object({ events: z.array(z.object({ type: z.string(), body: z.unknown() }).partial()) })),
  mails: z.number(),
});

/** The ticket when it is as wanted. `notes`: those that closeloop wrote. */
async function ticket(id: number, isWanted: (given: z.output<typeof Ticket>) => boolean = () => true) {
  return await until(async () => {
    const given = Ticket.parse(await desk.control('GET', `tickets/${id}`));
    if (!isWanted(given)) return undefined;
    const bodies = given.audits.flatMap(({ events }) => events.map(({ body }) => String(body ?? '')));
    return { ...given, notes: bodies.filter((body) => body.startsWith('Customer feedback')) };
  });
}

/** The id of a field that `setup` made. */
async function fieldId(title: string): Promise<string> {
  const answer = await fetch(`${desk.url}/api/v2/ticket_fields.json`, {
    headers: { authorization: `Basic ${btoa('integration@example.com/token:zendesk-api-token')}` },
  });
  const { ticket_fields } = z
    .object({ ticket_fields: z.array(z.object({ id: z.number(), title: z.string() })) })
    .parse(await answer.json());
  return String(ticket_fields.find((field) => field.title === title)?.id);
}

function configure(whenClosed: string): void {
  on.configure(`
    connector: zendesk
    subdomain: acme
    baseUrl: ${desk.url}
    clientId: closeloop
    clientSecret: zendesk-client-secret
    webhookSecrets: ["\${ZENDESK_WEBHOOK_SECRET}"]
    rules:
      - name: phone team
        when: ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)
        campaign: 112
        contact: [requester.phone, requester.email]
        fields: { Store: ticket.fields.store, Agent: assignee.name }
        again: each closing
    writeBack:
      grade: Feedback grade
      comment: Feedback comment
      answeredAt: Feedback answered at
      note: true
      tags: true
${whenClosed}`);
}

beforeAll(async () => {
  [on, desk] = await Promise.all([openScenario(redis, 'support'), standinHere('zendesk')]);
  // A minute is the vendor's; a second is enough here.
  await desk.control('PATCH', 'settings', { exportLagMs: 0, exportsPerMinute: 1_000 });
  await desk.control('POST', 'users', { id: 9001, name: 'Ann Agent', role: 'agent' });
  await desk.control('POST', 'groups', { id: 2001, name: 'Phone' });
  await desk.control('POST', 'ticket-fields', { id: 360004, title: 'Store', type: 'text' });
  await desk.control('POST', 'custom-objects', {
    key: 'feedback',
    fields: [
      { key: 'grade', type: 'integer' },
      { key: 'ticket', type: 'text' },
    ],
  });
  const common = { assigneeId: 9001, groupId: 2001, tags: ['vip'], customFields: { 360004: 'Tartu' } };
  for (const [user, name, email, id] of [
    [5001, 'Carl Customer', 'carl@example.com', 41960],
    [5002, 'Vera Visitor', 'vera@example.com', 41961],
  ]) {
    await desk.control('POST', 'users', { id: user, name, email });
    await desk.control('POST', 'tickets', { id, requesterId: user, ...common });
  }
  on.env.ZENDESK_WEBHOOK_SECRET = 'not known before setup';
  configure(`
      whenClosed: [edit, customObject]
      customObject: { object: feedback, grade: grade, ticket: ticket }`);
});

afterAll(async () => {
  await on?.close();
  await desk?.close();
});

const Findings = z.object({ errors: z.number(), warnings: z.number(), findings: z.array(z.unknown()) });

test('setup makes the fields and the webhook, tells its secret, and has nothing to do the second time', async () => {
  const before = await on.told(Findings, ['check'], 1);
  expect(JSON.stringify(before.findings)).toMatch(/webhook that delivers to .* is missing/);
  expect(await on.setUp()).toEqual([
    'create the ticket field "Feedback grade" (integer)',
    'create the ticket field "Feedback comment" (textarea)',
    'create the ticket field "Feedback answered at" (date)',
    `create the webhook that delivers to ${on.hooks}`,
  ]);
  expect(await on.setUp()).toEqual([]);
});

test('check finds nothing then', async () => {
  expect(await on.told(Findings, ['check'])).toEqual({ errors: 0, warnings: 0, findings: [] });
});

test("Zendesk's own webhook becomes a request that the service holds back, with every step explained", async () => {
  await on.start('all');
  const early = await on.run('preview', '--source', 'support', '--record', '41960');
  expect([early.code, early.out]).toEqual([0, expect.stringContaining('would not ask: it is not closed')]);

  await desk.control('POST', 'tickets/41960/solve', {});
  const asked = await on.journey('41960.1', 'asked');
  expect(await on.request(asked.requestId)).toMatchObject({
    email: 'carl@example.com',
    status: 'Scheduled',
    customFields: { Store: 'Tartu', Agent: 'Ann Agent', closeloop: 'support/41960.1' },
  });
});

test('reopened, the request is cancelled at the service; solved again, the customer is asked again', async () => {
  const first = await on.store.get('41960.1');
  await desk.control('POST', 'tickets/41960/reopen', {});
  const { why } = await on.journey('41960.1', 'cancelled');
  expect(why).toMatch(/open again.*cancelled at the service/);
  expect(await on.request(first?.requestId)).toMatchObject({ status: 'Cancelled' });

  await desk.control('POST', 'tickets/41960/solve', {});
  const second = await on.journey('41960.2', 'asked');
  expect(second.requestId).not.toBe(first?.requestId);
});

test('the grade lands on the ticket with a note, and a changed grade replaces it', async () => {
  const { requestId } = await on.journey('41960.2', 'asked');
  const grade = await fieldId('Feedback grade');
  const comment = await fieldId('Feedback comment');
  await on.answer(requestId, { grade: 5, comment: 'Great "help"' });
  const first = await ticket(41960, ({ tags }) => tags.includes('fb_grade_5'));
  expect(first).toMatchObject({ fields: { [comment]: 'Great "help"', [grade]: 5 }, mails: 0 });
  expect(first.tags).toEqual(expect.arrayContaining(['vip', 'fb_answered', 'fb_grade_5']));
  await on.journey('41960.2', 'written');
  expect(first.notes).toEqual([expect.stringContaining('Customer feedback: 5 of 5 (After support)')]);

  await on.answer(requestId, { grade: 2, comment: 'Not so great' });
  const second = await ticket(41960, ({ tags }) => tags.includes('fb_grade_2'));
  expect(second).toMatchObject({ fields: { [comment]: 'Not so great', [grade]: 2 }, mails: 0 });
  expect(second.tags).toEqual(expect.arrayContaining(['vip', 'fb_answered']));
  expect(second.tags).not.toContain('fb_grade_5');
  expect(second.notes).toHaveLength(2);
  await on.journey('41960.2', 'written');
});

test('our own echo starts nothing', async () => {
  await desk.control('POST', 'idle', {});
  const list = await on.run('journeys', 'list', '--json');
  expect(list.out.trim().split('\n')).toHaveLength(2);
});

test('the ticket closed for editing, the answer goes into the custom object, or on the ticket where that is allowed', async () => {
  const { requestId } = await on.journey('41960.2', 'written');
  const grade = await fieldId('Feedback grade');
  await desk.control('POST', 'tickets/41960/close', {});
  await on.answer(requestId, { grade: 3 });
  await on.trace('41960.2', /written on a record of the custom object, as the ticket is closed/);
  expect(await desk.control('GET', 'custom-objects/feedback/records')).toEqual([
    expect.objectContaining({ externalId: 'ticket-41960', fields: expect.objectContaining({ grade: 3 }) }),
  ]);
  expect((await ticket(41960)).fields[grade]).toBe(2);

  await desk.control('PATCH', 'settings', { modifyClosedTickets: true });
  await on.answer(requestId, { grade: 4 });
  const edited = await ticket(41960, ({ fields }) => fields[grade] === 4);
  expect([edited.ticket.status, edited.notes.length]).toEqual(['closed', 2]);
  await desk.control('PATCH', 'settings', { modifyClosedTickets: false });

  const shown = await on.trace('41960.2', /written on the closed ticket, without a note/);
  const steps = [
    'received',
    'rule "phone team", campaign 112',
    'contact: email',
    'to be asked at',
    'asked: feedback request',
    'answered: grade 5, with a comment',
    'written on the record',
    'answer changed (2): grade 2, with a comment',
    'written on the record',
    'answer changed (3): grade 3',
    'written on a record of the custom object',
    'answer changed (4): grade 4',
  ];
  expect(outOfOrder(shown, steps)).toBeUndefined();
  expect(shown).not.toMatch(personal);
});

test('a closing whose webhook is lost is found by the poll and counted, also by another process', async () => {
  await on.stop();
  configure(`
      userFields: { grade: feedback_grade, comment: feedback_comment }
      whenClosed: [userFields]`);
  expect(await on.setUp()).toEqual([
    'create the user field "feedback_grade" (integer)',
    'create the user field "feedback_comment" (textarea)',
  ]);
  expect(await on.told(Findings, ['check'])).toEqual({ errors: 0, warnings: 0, findings: [] });
  const { missed } = await on.status();

  await desk.control('DELETE', 'webhook', {});
  await desk.control('POST', 'tickets/41961/solve', {});
  const preview = await on.run('preview', '--source', 'support', '--record', '41961');
  const lines = [
    'would ask',
    'journey   none yet',
    'rule      phone team',
    'campaign  112 After support (mixed)',
    'contact   email vera@example.com',
    'Store = "Tartu"  ← ticket.fields.store',
    'Agent = "Ann Agent"  ← assignee.name',
    'send',
    "the campaign's delay of 1h ends",
    'the service itself waits 1h after the request',
  ];
  expect([preview.code, outOfOrder(preview.out, lines)]).toEqual([0, undefined]);
  const past = await on.run('preview', '--source', 'support', '--since', '2026-01-01');
  const row = /support\/41961 +yes +\S+ +email v…@example\.com +112 +rule "phone team"/;
  expect([past.code, past.out]).toEqual([0, expect.stringMatching(row)]);
  expect(await on.store.get('41961.1')).toBeUndefined();

  await on.start('all');
  await on.journey('41961.1', 'asked');
  expect(await on.trace('41961.1', /asked/)).toMatch(/found by the poll: no webhook had reported it/);
  expect((await on.status()).missed).toBe(missed + 1);
  expect(await on.told(Findings, ['check'], 1)).toMatchObject({
    errors: 1,
    findings: [{ at: 'webhook', problem: `the webhook that delivers to ${on.hooks} is missing` }],
  });
});

test("its answer goes to the requester's fields when the ticket is closed", async () => {
  const { requestId } = await on.journey('41961.1', 'asked');
  await desk.control('POST', 'tickets/41961/close', {});
  await on.answer(requestId, { grade: 1, comment: 'Not so great' });
  await on.trace('41961.1', /written on the requester's user fields, as the ticket is closed/);
  expect(await desk.control('GET', 'users/5002')).toMatchObject({
    userFields: { feedback_grade: 1, feedback_comment: 'Not so great' },
  });
});

test('it ends in order on SIGTERM, and its log names nobody', async () => {
  expect(await on.stop()).toEqual([0]);
  expect(on.logs()).not.toMatch(personal);
});
