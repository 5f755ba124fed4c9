import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import { startZendeskStandin, type ZendeskStandin } from '../../../standins/zendesk/standin.ts';
import { JourneyStore } from '../../../worker/journey/store.ts';
import type { RedisClient } from '../../../worker/redis/client.ts';
import { testFolder } from '../../support/folder.ts';
import { type ActingPoint, killedAt } from '../../support/kill-points.ts';
import { until } from '../../support/loop.ts';
import { locksEnd } from '../../support/loop-processes.ts';
import { receiver } from '../../support/receiver.ts';
import { useRedis } from '../../support/redis.ts';
import { sealOf } from '../../support/seal.ts';
import { secretOf } from '../../support/worker/told.ts';
import { runCloseloop } from '../chaos/processes.ts';

// 60 customers answer, a third of them unhappily, a tenth corrects the answer before it has settled, while all worker processes are killed
// again and again. What was done is judged by the vendor's own record of each ticket, and by the service's of its requests.

const redis = useRedis();

const [agent, escalations, campaign, gradeField] = [9001, 2002, 41, 360_001];
const settleMs = 2_000;
const [unhappy, happy] = [1, 5];

interface Customer {
  id: number;
  /** In which their ticket is closed. */
  inRound: number;
  email: string;
  /** Before and after the correction, where there is one. */
  grades: readonly number[];
}

const customers = Array.from({ length: 60 }, (_, n): Customer => {
  const usual = n % 3 === 1 ? unhappy : happy;
  const grades = n % 20 === 0 ? [unhappy, happy] : n % 20 === 10 ? [happy, unhappy] : [usual];
  return { id: 41_960 + n, inRound: n % 10, email: `customer${n}@example.com`, grades };
});
const isUnhappy = ({ grades }: Customer): boolean => grades.at(-1) === unhappy;

/** Where the first of two workers dies in each round: the other one dies with it, wherever it is. */
const deaths: readonly (readonly [ActingPoint, number])[] = [
  ['acting-saved', 1],
  ['tickets-changed', 1],
  ['acting-saved', 4],
  ['acting-saved', 6],
  ['event-taken', 3],
  ['answer-read-again', 1],
  ['tickets-changed', 3],
  ['event-taken', 9],
  ['acting-saved', 8],
  ['tickets-changed', 2],
];

const Audits = z.array(
  z.object({
    author_id: z.number(),
    events: z.array(
      z.object({ field_name: z.string().optional(), value: z.unknown().optional(), body: z.string().optional() }),
    ),
  }),
);

/** What closeloop did to a ticket beyond writing the grade. */
function doneTo(desk: ZendeskStandin, id: number) {
  const { audits, tags, mails } = desk.ticket(id);
  const ours = Audits.parse(audits).flatMap(({ author_id, events }) => (author_id === agent ? [] : events));
  const valuesOf = (name: string) => ours.flatMap((one) => (one.field_name === name ? [String(one.value)] : []));
  const [statuses, groups] = [valuesOf('status'), valuesOf('group_id')];
  const notes = ours.flatMap(({ body = '' }) => /closeloop ref (\S+)\s*$/.exec(body)?.[1] ?? []);
  return { statuses, groups, notes, isTagged: tags.includes('unhappy'), mails };
}

async function openWorld() {
  const dir = testFolder();
  const [service, zendesk] = await Promise.all([
    startFeedbackStandin(),
    startZendeskStandin({
      rateLimit: { perMinute: 100_000, ticketUpdatesPerMinute: 100_000 },
      webhooks: { pauseScale: 0.2 },
    }),
  ]);
  const [feedback, desk] = [service.standin, zendesk.standin];
  feedback.addAccount({ name: 'acme' });
  feedback.addKey({ account: 'acme', key: 'demo-key' });
  feedback.addCampaign({ account: 'acme', id: campaign, customFields: [{ name: 'closeloop' }] });
  desk.addUser({ id: agent, name: 'Ann Agent', role: 'agent' });
  desk.addGroup({ id: escalations, name: 'Escalations' });
  desk.addTicketField({ id: gradeField, title: 'Grade', type: 'integer' });
  for (const [n, { id, email }] of customers.entries()) {
    desk.addUser({ id: 5_000 + n, email });
    desk.addTicket({ id, requesterId: 5_000 + n, assigneeId: agent });
  }
  // Now and then it takes nothing.
  let calls = 0;
  const warehouse = await receiver(() => (++calls % 7 === 0 ? { status: 503 } : undefined));
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(
    config,
    `
feedback: { baseUrl: "${service.url}/api", apiKey: demo-key, timeZone: Europe/Tallinn, timeoutMs: 1000 }
policy: { sms: { from: "00:00", until: "24:00" } }
redis: { path: ${redis.socket} }
http: { port: 0 }
lookup: { after: 500ms }
collect: { every: 200ms }
webhooks:
  - name: warehouse
    url: ${warehouse.url}
    secret: ${secretOf(1)}
    allowPrivate: true
    events: [request.created, answer.received, answer.changed]
sources:
  support:
    connector: zendesk
    subdomain: acme
    baseUrl: ${zendesk.url}
    clientId: ${desk.credentials.clientId}
    clientSecret: ${desk.credentials.clientSecret}
    webhookSecrets: [zendesk-secret]
    rules: [{ name: all, campaign: ${campaign}, contact: requester.email }]
    writeBack: { grade: ${gradeField} }
    answers:
      - name: unhappy
        when: answer.grade <= 2
        settle: ${settleMs}ms
        do:
          - reopen: { group: Escalations }
          - note: '"Graded " & answer.grade'
          - tag: [unhappy]
          - followUp: { due: 4h }
          - send: warehouse
`,
  );
  const running = new Set<ReturnType<typeof runCloseloop>>();
  let intake: string | undefined;
  const onUrl = (url: string | undefined) => {
    intake = url;
  };
  const start = (role: 'intake' | 'worker', env: Record<string, string> = {}) => {
    const process = runCloseloop({ role, name: role, config, logs: dir, env, onUrl });
    running.add(process);
    void process.ended.then(() => running.delete(process));
    return process;
  };
  onTestFinished(async () => {
    await Promise.all([...running].map((process) => process.kill()));
    await Promise.all([service.close(), zendesk.close()]);
  });
  await start('intake').started;
  desk.setWebhook({ url: `${intake}/hooks/support`, secrets: ['zendesk-secret'] });
  return { feedback, desk, warehouse, start };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Customers answer as soon as they are asked and some correct that; an agent closes some tickets that were opened again. */
function people({ feedback, desk }: World) {
  const answers = new Map<string, number>();
  const closedAgain = new Set<number>();
  const take = (): void => {
    for (const { id, email, status } of feedback.requests()) {
      const grades = customers.find((one) => one.email === email)?.grades ?? [];
      const given = answers.get(email ?? '') ?? 0;
      const grade = grades[given];
      if (status !== 'Sent' || grade === undefined) continue;
      answers.set(email ?? '', given + 1);
      if (given === 0) feedback.answer({ request: id, grade, comment: 'In a word' });
      else setTimeout(() => feedback.answer({ request: id, grade }), settleMs / 4);
    }
    for (const { id } of customers.filter((one) => isUnhappy(one) && one.id % 2 === 0)) {
      if (closedAgain.has(id) || !doneTo(desk, id).statuses.includes('open')) continue;
      closedAgain.add(id);
      void desk.solve(id, agent);
    }
  };
  const timer = setInterval(take, 50);
  onTestFinished(() => clearInterval(timer));
  return { closedAgain };
}

const storeOf = async (client: RedisClient) =>
  new JourneyStore(client, 'support', { now: () => new Date(), seal: await sealOf(client) });

/** The types of the events about each ticket that the warehouse has taken, in their order, each event once. */
function passedOn({ warehouse }: World): Map<string, string[]> {
  const seen = new Set<string | undefined>();
  const byTicket = new Map<string, string[]>();
  for (const { headers, body, record = '', isTaken } of warehouse.got) {
    if (!isTaken || seen.has(headers['webhook-id'])) continue;
    seen.add(headers['webhook-id']);
    byTicket.set(record, [...(byTicket.get(record) ?? []), String(body.type)]);
  }
  return byTicket;
}

/** Their journeys, once what their last answer leads to is over; undefined once nobody waits for that any more. */
async function settled(some: readonly Customer[], awaited = { isNoMore: false }) {
  const { client } = redis.handle;
  const store = await storeOf(client);
  return await until(async () => {
    if (awaited.isNoMore) return [];
    const all = await Promise.all(some.map(({ id }) => store.get(`${id}.1`)));
    const isOver = all.map((one, n) => {
      const { answer, acting, state } = one ?? {};
      const isJudged = acting?.judged.unhappy?.version === answer?.version;
      const isOpen = acting?.acts.some((act) => act.state === 'wanted' || act.state === 'begun');
      return state === 'written' && isJudged && !isOpen && answer?.grade === some[n]?.grades.at(-1);
    });
    return isOver.every(Boolean) && all;
  });
}

test('actions for answers are done once each, whenever workers are killed', async () => {
  const world = await openWorld();
  const { feedback, desk, start } = world;
  const { client } = redis.handle;
  const { closedAgain } = people(world);

  const ends: unknown[] = [];
  for (const [round, [point, nth]] of deaths.entries()) {
    const workers = [start('worker', killedAt(point, nth)), start('worker', killedAt(point, nth))];
    for (const { id } of customers.filter(({ inRound }) => inRound === round)) void desk.solve(id, agent);
    // Where two workers share the work neither may come to its point: the round is over then, too.
    const awaited = { isNoMore: false };
    const over = settled(
      customers.filter(({ inRound }) => inRound <= round),
      awaited,
    ).then(() => 'settled');
    ends.push(await Promise.race([...workers.map(({ ended }) => ended), over]));
    awaited.isNoMore = true;
    await Promise.all(workers.map((worker) => worker.kill()));
    await locksEnd(client);
    // A job that four crashes in a row interrupt would be set aside, as it may be what causes them.
    if (round % 3 !== 2) continue;
    const clean = start('worker');
    await settled(customers.filter(({ inRound }) => inRound <= round));
    await clean.kill();
    await locksEnd(client);
  }
  for (let n = 0; n < 2; n += 1) start('worker');
  const journeys = await settled(customers);
  await until(async () => (await storeOf(client)).outgoing.counts('webhook.warehouse').then(({ due }) => due === 0));
  // Nothing is to come any more: the time of what a vendor may still carry out, and of what an agent's closing begins.
  await sleep(3_000);

  expect(ends.filter((end) => end === 'SIGKILL').length).toBeGreaterThan(deaths.length / 2);
  const acts = journeys.map((one) => one?.acting?.acts.map(({ name, state, why = '' }) => `${name} ${state}${why}`));
  const all = ['reopen done', 'note done', 'tag done', 'followUp done', 'send done'];
  expect(acts).toEqual(customers.map((one) => (isUnhappy(one) ? all : [])));
  expect(customers.map((one) => ({ ...one, ...doneTo(desk, one.id) }))).toEqual(
    customers.map((one) => {
      // Where a slip was never seen, its correction is the first version.
      const notes = [expect.stringMatching(new RegExp(`^support/${one.id}\\.1\\.a[12]\\.unhappy\\.1$`))];
      const done = { statuses: ['open'], groups: [String(escalations)], notes, isTagged: true, mails: 0 };
      const nothing = { statuses: [], groups: [], notes: [], isTagged: false, mails: 0 };
      return { ...one, ...(isUnhappy(one) ? done : nothing) };
    }),
  );
  const events = passedOn(world);
  for (const { id, grades } of customers) {
    const types = events.get(String(id)) ?? [];
    const isHappy = grades.at(-1) === happy;
    // A slip that was corrected soon enough was never seen.
    const changed = grades.length > 1 && types.includes('answer.changed') ? ['answer.changed'] : [];
    const wanted = ['request.created', 'answer.received', ...changed, ...(isHappy ? [] : ['answer.matched'])];
    expect([id, types]).toEqual([id, wanted]);
  }
  const asked = feedback.requests().map(({ email }) => email ?? '');
  expect(asked.toSorted()).toEqual(customers.map(({ email }) => email).sort());
  expect(closedAgain.size).toBeGreaterThan(4);
  const statuses = z.object({ status: z.string() });
  for (const id of closedAgain) expect(statuses.parse(desk.ticket(id).ticket).status, String(id)).toBe('solved');
});
