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
const secret = 'hubspot-client-secret';
let on: Awaited<ReturnType<typeof openScenario>>;
let crm: Awaited<ReturnType<typeof standinHere>>;
let first: Made;
let second: Made;

const personal = /hanna@example|vera@example|Hanna|Vera|Too slow|Much better/;

const Id = z.object({ id: z.coerce.number() });
interface Made {
  ticket: number;
  contact: number;
  /** Of its first closing. */
  journey: string;
}

async function makeTicket(firstname: string, email: string, owner: number): Promise<Made> {
  const contact = Id.parse(await crm.control('POST', 'contacts', { properties: { firstname, email } })).id;
  const properties = { subject: 'Router', hs_pipeline: '0', hs_pipeline_stage: '1', hubspot_owner_id: String(owner) };
  const ticket = Id.parse(await crm.control('POST', 'tickets', { properties, contacts: [contact] })).id;
  return { ticket, contact, journey: `ticket-${ticket}.1` };
}

const Record = z.object({ properties: z.record(z.string(), z.string()) });

/** What a ticket holds, when it holds this grade. */
async function holding(ticket: number, grade: string) {
  return await until(async () => {
    const { properties } = Record.parse(await crm.control('GET', `tickets/${ticket}`));
    return properties.feedback_grade === grade ? properties : undefined;
  });
}

const notesOn = async (ticket: number) =>
  z.array(z.string()).parse(await crm.control('GET', `tickets/${ticket}/notes`));

beforeAll(async () => {
  [on, crm] = await Promise.all([openScenario(redis, 'crm'), standinHere('hubspot')]);
  const owner = Id.parse(await crm.control('POST', 'owners', { firstName: 'Ann', lastName: 'Agent' })).id;
  first = await makeTicket('Hanna', 'hanna@example.com', owner);
  second = await makeTicket('Vera', 'vera@example.com', owner);
  on.configure(`
    connector: hubspot
    baseUrl: ${crm.url}
    accessToken: hubspot-token
    developerApiKey: hubspot-developer-key
    webhookSecrets: ["${secret}"]
    rules:
      - { name: all, campaign: 112, contact: contact.email, fields: { Agent: owner.name }, again: each closing }
    writeBack:
      grade: feedback_grade
      comment: feedback_comment
      answeredAt: feedback_at
      status: feedback_status
      note: true`);
});

afterAll(async () => {
  await on?.close();
  await crm?.close();
});

const Findings = z.object({ errors: z.number(), warnings: z.number(), findings: z.array(z.unknown()) });

test('setup makes the properties and the webhooks, and has nothing to do the second time', async () => {
  const before = await on.told(Findings, ['check'], 1);
  expect(JSON.stringify(before.findings)).toMatch(/the app has no target URL/);
  const done = await on.setUp();
  expect(done).toEqual(
    expect.arrayContaining([
      'create the property "feedback_grade" of tickets (number)',
      'create the property "feedback_status" of tickets (enumeration)',
      expect.stringContaining(`deliver its webhooks to ${on.hooks}`),
      expect.stringContaining('to contact.privacyDeletion'),
    ]),
  );
  expect(await on.setUp()).toEqual([]);
});

test('check finds nothing then', async () => {
  expect(await on.told(Findings, ['check'])).toEqual({ errors: 0, warnings: 0, findings: [] });
});

test("HubSpot's own webhook becomes a request that the service holds back", async () => {
  await on.start('intake', 'worker');
  const record = `ticket-${first.ticket}`;
  const early = await on.run('preview', '--source', 'crm', '--record', record);
  expect([early.code, early.out]).toEqual([0, expect.stringContaining('would not ask: it is not closed')]);

  await crm.control('POST', `tickets/${first.ticket}/close`, {});
  const { requestId } = await on.journey(first.journey, 'asked');
  expect(await on.request(requestId)).toMatchObject({
    email: 'hanna@example.com',
    status: 'Scheduled',
    customFields: { Agent: 'Ann Agent', closeloop: `crm/${first.journey}` },
  });
  const late = await on.run('preview', '--source', 'crm', '--record', record);
  expect(late.out).toMatch(new RegExp(`journey +crm/${first.journey}, asked`));
});

test('reopened, the request is cancelled at the service; closed again, the customer is asked again', async () => {
  const before = await on.store.get(first.journey);
  await crm.control('POST', `tickets/${first.ticket}/reopen`, {});
  const { why } = await on.journey(first.journey, 'cancelled');
  expect(why).toMatch(/open again.*cancelled at the service/);
  expect(await on.request(before?.requestId)).toMatchObject({ status: 'Cancelled' });

  await crm.control('POST', `tickets/${first.ticket}/close`, {});
  first.journey = `ticket-${first.ticket}.2`;
  const { requestId } = await on.journey(first.journey, 'asked');
  expect(requestId).not.toBe(before?.requestId);
});

test('the grade lands on the ticket with a note, and a changed grade replaces it', async () => {
  const { requestId } = await on.journey(first.journey, 'asked');
  await on.answer(requestId, { grade: 2, comment: 'Too slow' });
  expect(await holding(first.ticket, '2')).toMatchObject({ feedback_comment: 'Too slow', feedback_status: 'answered' });
  await on.journey(first.journey, 'written');
  expect(await notesOn(first.ticket)).toHaveLength(1);

  await on.answer(requestId, { grade: 5, comment: 'Much better' });
  expect(await holding(first.ticket, '5')).toMatchObject({ feedback_comment: 'Much better' });
  await on.journey(first.journey, 'written');
  expect(await notesOn(first.ticket)).toHaveLength(2);
});

test('our own echo starts nothing', async () => {
  await crm.control('POST', 'idle', {});
  const list = await on.run('journeys', 'list', '--json');
  expect(list.out.trim().split('\n')).toHaveLength(2);
});

test('the ticket merged into another one, a changed grade goes to the one that is left', async () => {
  const { requestId } = await on.journey(first.journey, 'written');
  const properties = { subject: 'Router, again', hs_pipeline: '0', hs_pipeline_stage: '1' };
  const other = Id.parse(await crm.control('POST', 'tickets', { properties, contacts: [first.contact] })).id;
  const merge = { type: 'tickets', primary: other, merged: [first.ticket] };
  const left = Id.parse(await crm.control('POST', 'merge', merge)).id;
  await until(async () => (await on.store.get(first.journey))?.currentId === `ticket-${left}`);

  await on.answer(requestId, { grade: 3 });
  await holding(left, '3');
  await on.journey(first.journey, 'written');
  const shown = await on.trace(first.journey, /answer changed \(3\)/);
  const steps = [
    `(now ticket-${left})`,
    'received',
    'rule "all", campaign 112',
    'asked: feedback request',
    'answered: grade 2, with a comment',
    'written on the record (answer 1)',
    'answer changed (2): grade 5, with a comment',
    'written on the record (answer 2)',
    'merged into',
    'answer changed (3): grade 3',
    'written on the record (answer 3)',
  ];
  expect(outOfOrder(shown, steps)).toBeUndefined();
  expect(shown).not.toMatch(personal);
});

test('a closing whose webhook is lost is found by the poll and counted', async () => {
  const { missed } = await on.status();
  await crm.control('DELETE', 'webhook', {});
  await crm.control('POST', `tickets/${second.ticket}/close`, {});
  const past = await on.run('preview', '--source', 'crm', '--since', '2026-01-01');
  expect(past.out).toMatch(/^\d+ closings?: \d+ would be asked/m);
  const { requestId } = await on.journey(second.journey, 'asked');
  expect(await on.trace(second.journey, /asked/)).toMatch(/found by the poll: no webhook had reported it/);
  expect((await on.status()).missed).toBe(missed + 1);

  await on.answer(requestId, { grade: 4 });
  await holding(second.ticket, '4');
  await on.journey(second.journey, 'written');
});

test('setup mends the webhooks; a person deleted for privacy is masked at the service and forgotten here', async () => {
  expect(await on.setUp()).toEqual(expect.arrayContaining([expect.stringContaining(on.hooks)]));
  const { requestId } = await on.journey(second.journey, 'written');
  const { erasures } = await on.status();
  await crm.control('POST', `contacts/${second.contact}/privacy-delete`, {});
  const erased = await until(async () => {
    const journey = await on.store.get(second.journey);
    return journey?.erasedAt && journey;
  });
  expect(erased).not.toHaveProperty('contact');
  expect(erased.answer?.comment ?? null).toBeNull();
  // The proof comes when all is done.
  await until(async () => (await on.status()).erasures === erasures + 1);
  expect(await on.request(requestId)).toMatchObject({ masked: true, email: '***' });
  expect(await on.trace(second.journey, /erased: a contact is to be forgotten/)).not.toMatch(personal);
});

test('both roles end in order on SIGTERM, and their logs name nobody', async () => {
  expect(await on.stop()).toEqual([0, 0]);
  expect(on.logs()).not.toMatch(personal);
});
