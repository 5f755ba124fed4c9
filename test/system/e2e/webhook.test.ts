import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startWebhookStandin } from '../../../standins/webhook/standin.ts';
import { startZendeskStandin } from '../../../standins/zendesk/standin.ts';
import type { App } from '../../../worker/cli/app.ts';
import type { JourneyState } from '../../../worker/journey/journey.ts';
import { tagOf } from '../../../worker/redis/keys.ts';
import { commandHere } from '../../support/command-here.ts';
import { useFolder } from '../../support/folder.ts';
import { type Told, until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { runHere } from '../../support/run-here.ts';

const redis = useRedis();
const secret = `whsec_${Buffer.alloc(32, 'jobs to us').toString('base64')}`;
const external = 15;
const grades = 42;

let feedback: Awaited<ReturnType<typeof startFeedbackStandin>>;
let board: Awaited<ReturnType<typeof startWebhookStandin>>;
let desk: Awaited<ReturnType<typeof startZendeskStandin>>;
let app: App;
let told: Told[];
const dir = useFolder();
let file: string;

const events = (more = '') => `
      record: data.job.id
      closed: type = "job.done"
      changed: type = "job.reopened"
      closedAt: data.job.doneAt
      person: data.customer.id
      shape: data
      erase: { when: type = "customer.forget", contacts: data.customer.email }
      survey: {}${more}`;

beforeAll(async () => {
  [feedback, board, desk] = await Promise.all([
    startFeedbackStandin({ seed: true }),
    startWebhookStandin({ webhooks: { pauseScale: 0 } }),
    startZendeskStandin({ jobs: { queuedMs: 0, workingMs: 0 } }),
  ]);
  const customFields = [{ name: 'closeloop' }];
  feedback.standin.addCampaign({ account: 'acme', id: grades, name: 'After the job', type: 'email', customFields });
  const text = `
feedback: { baseUrl: "${feedback.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
policy: { sms: { from: "00:00", until: "24:00" } }
http: { port: 0, publicUrl: "http://127.0.0.1:8080" }
collect: { every: 200ms }
sources:
  jobs:
    connector: webhook
    signature: { kind: standard, secrets: ["${secret}"] }
    event:${events()}
    writeBack: { url: "${board.url}/answers", secrets: ["${board.standin.answerSecret}"], allowPrivate: true }
    rules:
      - { name: later, when: '$contains(job.title, "sofa")', campaign: ${grades}, contact: customer.email, delay: 2h }
      - { name: all, campaign: ${grades}, contact: customer.email }
  ratings:
    connector: webhook
    signature: { kind: standard, secrets: ["${secret}"] }
    event:${events(`
      graded: { when: type = "job.rated", grade: data.stars, comment: data.words }`)}
    rules: [{ name: own channel, campaign: ${external}, contact: customer.id }]
  support:
    connector: zendesk
    subdomain: acme
    baseUrl: ${desk.url}
    clientId: ${desk.standin.credentials.clientId}
    clientSecret: ${desk.standin.credentials.clientSecret}
    webhookSecrets: [zendesk-secret]
    csat: {}
    writeBack: { grade: 360001, answers: { "17": 360002 } }
    rules:
      - { name: rated in Zendesk, when: ticket.subject = "rated", campaign: ${external}, contact: ticket.id }
      - { name: all, campaign: ${grades}, contact: requester.email }
`;
  file = join(dir, 'closeloop.yaml');
  writeFileSync(
    file,
    `${text}redis: { path: ${redis.socket} }\nsecretsKey: ${Buffer.alloc(32, 1).toString('base64')}\n`,
  );
  ({ app, told } = await runHere(redis, text, { batchWindowMs: 20, sweepEveryMs: 200 }));
  hook('jobs');
  desk.standin.addTicketField({ id: 360001, title: 'Grade', type: 'integer' });
  desk.standin.addTicketField({ id: 360002, title: 'Why', type: 'textarea' });
  desk.standin.setWebhook({
    url: `${app.url}/hooks/support`,
    secrets: ['zendesk-secret'],
    subscriptions: ['ticket.status_changed', 'ticket.csat_received'],
  });
});

afterAll(async () => {
  await app?.close();
  await Promise.all([feedback?.close(), board?.close(), desk?.close()]);
});

function hook(source: 'jobs' | 'ratings', key = secret): void {
  board.standin.setHook({ url: `${app.url}/hooks/${source}`, secret: key });
}

const contextOf = (source: string) => app.engine.pipelines.get(source)?.context ?? expect.fail(`no pipeline ${source}`);
const storeOf = (source: string) => contextOf(source).store;
const journeyIn = (source: string, id: string, state: JourneyState) =>
  until(async () => {
    const journey = await storeOf(source).get(id);
    return journey?.state === state ? journey : undefined;
  });
const idle = () => until(async () => (await app.engine.busy()) === 0);
const requestOf = (contact: string) => feedback.standin.requests({ contact })[0] ?? expect.fail('no request');
const job = (title: string, name: string) =>
  board.standin.addJob({ title, customer: { id: name, email: `${name}@example.com` } }).id;

test('the source is ready: nothing to set up, nothing found', async () => {
  const about = ['--config', file, '--source', 'jobs', '--json'];
  await redis.handle.client.config('SET', 'appendfsync', 'always');
  const setup = await commandHere(['setup', '--yes', ...about]);
  expect([setup.code, setup.out]).toEqual([0, '{"missing":[],"done":[]}\n']);
  const check = await commandHere(['check', ...about]);
  expect([JSON.parse(check.out).findings, check.code]).toEqual([[], 0]);
});

describe('any system that sends webhooks', () => {
  test('an event that an expression cannot read is refused with the place, never lost in silence', async () => {
    const id = board.standin.addJob({ id: 'x'.repeat(120) }).id;
    expect(await board.standin.finish(id)).toMatchObject({ delivered: false, status: 400 });
    const refused = told.find(({ message }) => message === 'delivery refused: body');
    expect(refused?.fields.why).toMatch(/event\.record/);
  });

  test('a closing that gets here after its own reopening asks nobody', async () => {
    const id = job('fix the tap', 'late');
    board.standin.removeHook();
    await board.standin.finish(id);
    // Of two events of one instant nobody knows the order.
    const doneAt = Date.now();
    await until(() => Date.now() > doneAt + 1);
    await board.standin.reopen(id);
    hook('jobs');
    const [done = '', reopened = ''] = board.standin.sent().slice(-2);
    for (const event of [reopened, done]) expect(await board.standin.redeliver(event)).toMatchObject({ status: 202 });
    await idle();
    expect(feedback.standin.requests({ contact: 'late@example.com' })).toEqual([]);
  });

  test('its customer is asked once, the grade comes back signed, a changed grade again, and no echo asks anew', async () => {
    const id = job('paint the hall', 'bert');
    await board.standin.finish(id);
    await journeyIn('jobs', `${id}.1`, 'asked');
    const [done] = board.standin.sent().slice(-1);
    await board.standin.redeliver(done ?? '');
    const { id: request } = requestOf('bert@example.com');
    await until(() => feedback.standin.requests().some((one) => one.id === request && one.sentAt));
    feedback.standin.answer({ request, grade: 5, comment: 'Fast & clean' });
    await until(() => board.standin.job(id).feedback?.grade === 5);
    expect(board.standin.job(id).feedback).toMatchObject({ comment: 'Fast & clean', answers: {} });
    feedback.standin.answer({ request, grade: 2, comment: 'The paint came off' });
    await until(() => board.standin.job(id).feedback?.grade === 2);
    await journeyIn('jobs', `${id}.1`, 'written');
    await board.standin.idle();
    await idle();
    expect(board.standin.job(id)).toMatchObject({ taken: 2, feedback: { comment: 'The paint came off' } });
    expect(feedback.standin.requests({ contact: 'bert@example.com' })).toHaveLength(1);
    expect(await storeOf('jobs').get(`${id}.2`)).toBeUndefined();
    expect(board.standin.refusedCalls()).toBe(0);
  });

  test('an answer that did not get through is sent again, and counts once', async () => {
    const id = job('mend the roof', 'carl');
    await board.standin.finish(id);
    await journeyIn('jobs', `${id}.1`, 'asked');
    const { id: request } = requestOf('carl@example.com');
    await until(() => feedback.standin.requests().some((one) => one.id === request && one.sentAt));
    board.standin.faults.add({ path: '^/answers$', then: 'work-then-cut' });
    board.standin.faults.add({ path: '^/answers$', status: 429, headers: { 'retry-after': '1' } });
    feedback.standin.answer({ request, grade: 4 });
    await journeyIn('jobs', `${id}.1`, 'written');
    expect(board.standin.job(id)).toMatchObject({ taken: 1, feedback: { grade: 4 } });
  });

  test('a person who is to be forgotten is masked, and nothing told of them is kept', async () => {
    const id = job('clean the house', 'dora');
    await board.standin.finish(id);
    await journeyIn('jobs', `${id}.1`, 'asked');
    // Nobody was asked about these: one is hers by her id, the other's customer is somebody else, though her address stands in it.
    const hers = board.standin.addJob({ title: 'no contact', customer: { id: 'dora', phone: '+37255512345' } }).id;
    const about = board.standin.addJob({ title: 'Dora@example.com', customer: { id: 'her-landlord' } }).id;
    for (const one of [hers, about]) {
      await board.standin.finish(one);
      await journeyIn('jobs', `${one}.1`, 'skipped');
    }
    await board.standin.forget(id);
    for (const one of [id, hers]) await until(async () => (await storeOf('jobs').get(`${one}.1`))?.erasedAt);
    const proofs = await until(async () => {
      const all = await contextOf('jobs').erasures.all();
      return all.length > 0 && all;
    });
    expect(feedback.standin.requests({ contact: 'dora@example.com' })).toEqual([]);
    for (const one of [id, hers]) {
      expect(await redis.handle.client.hget(`${tagOf('jobs')}:snapshot:${one}`, 'sealed')).toBe('');
    }
    // What somebody else's record tells stays, without her address.
    expect((await storeOf('jobs').get(`${about}.1`))?.erasedAt).toBeUndefined();
    const told = JSON.stringify(await contextOf('jobs').snapshots.of([about]));
    expect(told).toContain('her-landlord');
    expect(told).not.toMatch(/dora/i);
    expect(JSON.stringify(proofs)).not.toContain('dora');
  });
});

describe('grades from elsewhere', () => {
  test('one that is posted to a webhook is in the external campaign, once, and corrected when it changes', async () => {
    hook('ratings');
    const id = job('lay the floor', 'emil');
    await board.standin.rate({ id, stars: 5, words: 'Lovely' });
    await until(() => feedback.standin.requests({ contact: 'emil' })[0]?.comment === 'Lovely');
    // The job is told as done only now: its customer is asked no second time.
    await board.standin.finish(id);
    await journeyIn('ratings', `${id}.2`, 'skipped');
    await board.standin.rate({ id, stars: 3, words: 'It creaks' });
    await until(() => feedback.standin.requests({ contact: 'emil' })[0]?.comment === 'It creaks');
    await idle();
    expect(feedback.standin.requests({ contact: 'emil' })).toMatchObject([
      { campaign: external, identifier: 'emil', grade: 3, comment: 'It creaks' },
    ]);
    hook('jobs');
  });

  test("one that is given in Zendesk's own CSAT is, too", async () => {
    const requesterId = desk.standin.addUser({ name: 'Fred', email: 'fred@example.com' }).id;
    const assigneeId = desk.standin.addUser({ name: 'Ann', role: 'agent' }).id;
    const { id } = desk.standin.addTicket({ requesterId, assigneeId, subject: 'rated' });
    await desk.standin.solve(id);
    await desk.standin.rate({ id, score: 'bad', comment: 'Too slow' });
    await until(() => feedback.standin.requests({ contact: String(id) })[0]?.grade === 1);
    await desk.standin.rate({ id, score: 'good', comment: 'They called me' });
    await until(() => feedback.standin.requests({ contact: String(id) })[0]?.grade === 5);
    await idle();
    expect(feedback.standin.requests({ contact: String(id) })).toMatchObject([
      { campaign: external, identifier: String(id), comment: 'They called me' },
    ]);
    expect(desk.standin.ticket(id)).toMatchObject({ mails: 0 });
  });
});

test("a survey's answers come by the generic webhook and land in the mapped field of the ticket", async () => {
  const requesterId = desk.standin.addUser({ name: 'Hugo', email: 'hugo@example.com' }).id;
  const assigneeId = desk.standin.addUser({ name: 'Cleo', role: 'agent' }).id;
  const { id } = desk.standin.addTicket({ requesterId, assigneeId, subject: 'surveyed' });
  await desk.standin.solve(id);
  const { requestId = '' } = await journeyIn('support', `${id}.1`, 'asked');
  await until(() => feedback.standin.requests().some((one) => String(one.id) === requestId && one.sentAt));
  feedback.standin.answer({ request: Number(requestId), grade: 4 });
  await until(() => desk.standin.ticket(id).fields['360001'] === 4);
  await board.standin.sendSurvey({ request: requestId, answers: { '17': 'It took three calls', '18': 7 } });
  await until(() => desk.standin.ticket(id).fields['360002'] === 'It took three calls');
  await board.standin.sendSurvey({ request: requestId, answers: { '17': 'Four, in fact' } });
  await until(() => desk.standin.ticket(id).fields['360002'] === 'Four, in fact');
  expect(desk.standin.ticket(id).fields['360001']).toBe(4);
});
