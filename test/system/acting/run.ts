import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Delivery } from '../../../core/connector/contract.ts';
import { type FeedbackStandin, startFeedbackStandin } from '../../../standins/feedback/standin.ts';
import type { Journey } from '../../../worker/journey/journey.ts';
import { JourneyStore } from '../../../worker/journey/store.ts';
import { freshdeskSample } from '../../support/connectors/freshdesk/sample.ts';
import { hubspotSample } from '../../support/connectors/hubspot/sample.ts';
import { intercomSample } from '../../support/connectors/intercom/sample.ts';
import { shopifySample } from '../../support/connectors/shopify/sample.ts';
import { hookUrl, useRealClocks } from '../../support/connectors/vendor-account.ts';
import { woocommerceSample } from '../../support/connectors/woocommerce/sample.ts';
import { zendeskSample } from '../../support/connectors/zendesk/sample.ts';
import type { ConnectorSample, Vendor } from '../../support/contract/sample.ts';
import { sealOf } from '../../support/seal.ts';
import { type Kept, keepCloseloop, keepRedis } from '../chaos/processes.ts';
import { chanceOf } from '../chaos/random.ts';

// Customers of every vendor answer, a third of them unhappily; some correct a slip before it has settled, and some agents close again what was
// opened again. Meanwhile the intake, the workers and Redis are killed. What was done is judged by the vendors' own records.

export interface ActingOptions {
  answers: number;
  kills: number;
  seed: number;
  say: (line: string) => void;
}

export interface ActingReport {
  answered: number;
  /** Whose answer led to actions. */
  acted: number;
  corrected: number;
  closedAgain: number;
  kills: number;
  /** Processes that ended though nobody had killed them. */
  crashes: string[];
  /** Sentences, each about one record. None in a clean run. */
  findings: string[];
  seconds: number;
}

const [unhappy, happy] = [1, 5];
const settleMs = 2_000;
const secret = 'acting-secret';
/** In every action that holds a text of its own. */
const sentinel = 'acted-upon';

/** Each with the expression of its record's number. HubSpot signs the address that it calls, which has this name. */
const vendors: readonly { sample: ConnectorSample; source: string; number: string }[] = [
  { sample: hubspotSample, source: new URL(hookUrl).pathname.split('/').at(-1) ?? '', number: 'ticket.id' },
  { sample: zendeskSample, source: 'zendesk', number: 'ticket.id' },
  { sample: intercomSample, source: 'intercom', number: 'conversation.id' },
  { sample: freshdeskSample, source: 'freshdesk', number: 'ticket.id' },
  { sample: shopifySample, source: 'shopify', number: 'order.id' },
  { sample: woocommerceSample, source: 'woocommerce', number: 'order.id' },
];

interface Desk {
  source: string;
  vendor: Vendor;
  actions: readonly (readonly [name: string, params: unknown])[];
}

interface Customer {
  desk: Desk;
  recordId: string;
  email: string;
  /** Before and after the correction, where there is one. */
  grades: readonly number[];
  given: number;
  isClosedAgain: boolean;
}

const numberIn = (recordId: string): string => recordId.replace(/\D/g, '');
const emailOf = (source: string, recordId: string): string => `${source}-${numberIn(recordId)}@example.com`;
const isUnhappy = ({ grades }: Pick<Customer, 'grades'>): boolean => grades.at(-1) === unhappy;
const isCorrected = ({ grades }: Pick<Customer, 'grades'>): boolean => grades.length > 1;

function gradesOf(n: number): readonly number[] {
  if (n % 20 === 0) return [unhappy, happy];
  if (n % 20 === 10) return [happy, unhappy];
  return [n % 3 === 1 ? unhappy : happy];
}

function actionsOf({ connector, acts = [] }: ConnectorSample): Desk['actions'] {
  const shared = { note: `"${sentinel} " & answer.grade`, tag: [sentinel] };
  return Object.keys(connector.actions).map((name) => {
    const own = acts.find((one) => one.name === name)?.params;
    return [name, name === 'note' || name === 'tag' ? shared[name] : own] as const;
  });
}

async function openDesks(): Promise<Desk[]> {
  return await Promise.all(
    vendors.map(async ({ sample, source }) => ({ source, vendor: await sample.start(), actions: actionsOf(sample) })),
  );
}

function configuration(desks: readonly Desk[], feedbackUrl: string, socket: string): string {
  const sources = desks.map(({ source, vendor, actions }, n) => {
    const contact = `"${source}-" & ${vendors[n]?.number} & "@example.com"`;
    const rule = { name: 'all', campaign: 41, contact };
    const steps = [...actions.map(([name, params]) => ({ [name]: params })), { followUp: { due: '4h' } }];
    const answers = [{ name: 'unhappy', when: 'answer.grade <= 2', settle: `${settleMs}ms`, do: steps }];
    const settings: { writeBack?: object } = vendor.settings([secret]);
    // At every second vendor an answer is written when it has settled for the rule as well: the job that writes it acts on it.
    const writeBack = { ...settings.writeBack, ...(n % 2 === 1 && { settle: `${settleMs}ms` }) };
    return [source, { connector: vendors[n]?.sample.connector.name, ...settings, writeBack, rules: [rule], answers }];
  });
  return JSON.stringify({
    feedback: {
      baseUrl: `${feedbackUrl}/api`,
      apiKey: 'demo-key',
      timeZone: 'Europe/Tallinn',
      timeoutMs: 2_000,
    },
    policy: { sms: { from: '00:00', until: '24:00' }, actions: { perRecord: 20 } },
    redis: { path: socket },
    http: { port: 0, publicUrl: new URL(hookUrl).origin },
    lookup: { after: '1s' },
    collect: { every: '300ms' },
    // An account hands out what it delivered last, which may be about what closeloop has just written: the closing is found by a poll then.
    poll: { every: '20s' },
    sources: Object.fromEntries(sources),
  });
}

/** Every text and number that the record holds, without what differs between records that were treated alike. */
function leavesOf({ desk, recordId }: Pick<Customer, 'desk' | 'recordId'>): string[] {
  const leaves: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
    else leaves.push(String(value));
  };
  visit(desk.vendor.traces(recordId));
  return leaves
    .map((leaf) =>
      leaf
        .replaceAll(recordId, 'ID')
        .replaceAll(numberIn(recordId), 'ID')
        .replace(/\.a\d+\./g, '.aN.'),
    )
    .map((leaf) => leaf.replace(/\d{4}-\d\d-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?/g, 'AT').replace(/\d{3,}/g, 'N'))
    .sort();
}

const countIn = (leaves: readonly string[], text: string): number =>
  leaves.reduce((sum, leaf) => sum + leaf.split(text).length - 1, 0);

class World {
  readonly customers: Customer[] = [];
  readonly stores = new Map<string, JourneyStore>();
  intake: string | undefined;
  readonly #desks: readonly Desk[];
  readonly #feedback: FeedbackStandin;

  constructor(desks: readonly Desk[], feedback: FeedbackStandin) {
    this.#desks = desks;
    this.#feedback = feedback;
  }

  /** Closes one record at the next vendor, and delivers what the vendor says of that until it is taken. */
  async close(grades: readonly number[]): Promise<Customer> {
    const [n, desks] = [this.customers.length, this.#desks];
    // Each vendor has customers of every kind.
    const desk = desks[(n + Math.floor(n / desks.length)) % desks.length];
    if (desk === undefined) throw new Error('there is no vendor');
    const { recordId, delivery } = await desk.vendor.closeRecord(secret);
    const email = emailOf(desk.source, recordId);
    const customer = { desk, recordId, email, grades, given: 0, isClosedAgain: false };
    this.customers.push(customer);
    await this.#deliver(desk, delivery);
    return customer;
  }

  async #deliver({ source }: Desk, delivery: Delivery | undefined): Promise<void> {
    if (delivery === undefined) throw new Error(`${source} delivered nothing`);
    const { method, raw } = delivery;
    const headers = Object.entries(delivery.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    for (;;) {
      const url = `${this.intake}/hooks/${source}`;
      const status = await fetch(url, { method, headers, body: Buffer.from(raw) }).then(
        (response) => response.status,
        () => undefined,
      );
      if (status !== undefined && status < 300) return;
      if (status !== undefined && status < 500 && status !== 429) throw new Error(`${source} is answered ${status}`);
      await sleep(200);
    }
  }

  /** Customers answer as soon as they are asked, and some correct that. */
  answer(): void {
    const byEmail = new Map(this.customers.map((one) => [one.email, one]));
    for (const { id, email, status } of this.#feedback.requests()) {
      const customer = byEmail.get(email ?? '');
      const grade = customer?.grades[customer.given];
      if (customer === undefined || status !== 'Sent' || grade === undefined) continue;
      customer.given += 1;
      if (customer.given === 1) this.#feedback.answer({ request: id, grade, comment: 'In a word' });
      else setTimeout(() => this.#feedback.answer({ request: id, grade }), settleMs / 4);
    }
  }

  async journey({ desk, recordId }: Customer): Promise<Journey | undefined> {
    return await this.stores.get(desk.source)?.get(`${recordId}.1`);
  }

  /** Agents close some of what was opened again. */
  async closeAgain(): Promise<void> {
    const some = this.customers.filter((one, n) => n % 4 === 1 && isUnhappy(one) && !one.isClosedAgain);
    for (const one of some) {
      const { acting } = (await this.journey(one)) ?? {};
      const acts = acting?.acts ?? [];
      if (!acts.some(({ name, state }) => name === 'reopen' && state === 'done')) continue;
      if (acts.some(({ state }) => state === 'wanted' || state === 'begun')) continue;
      one.isClosedAgain = true;
      await this.#deliver(one.desk, await one.desk.vendor.closeAgain(one.recordId, secret));
    }
  }

  /** Those of whom not all is over that their last answers lead to, each with how far it is. */
  async openOf(some: readonly Customer[]): Promise<string[]> {
    const journeys = await Promise.all(some.map((one) => this.journey(one)));
    return journeys.flatMap((journey, n) => {
      const { state, answer, acting, why = '' } = journey ?? {};
      const acts = acting?.acts.map((act) => `${act.name} ${act.state}`) ?? [];
      const isOpen = acts.some((act) => / (wanted|begun)$/.test(act));
      const isJudged = acting?.judged.unhappy?.version === answer?.version;
      const isRight = answer?.grade === some[n]?.grades.at(-1);
      if (state === 'written' && isRight && isJudged && !isOpen) return [];
      return [`${some[n]?.email} ${state} ${why} grade ${answer?.grade} of ${some[n]?.grades}, ${acts.join(', ')}`];
    });
  }

  /** @param say tells every minute for whom it waits */
  async untilOver(say: (line: string) => void, some: readonly Customer[] = this.customers): Promise<void> {
    for (let looks = 1; ; looks += 1) {
      const open = await this.openOf(some).catch(() => ['Redis']);
      if (open.length === 0) return;
      if (looks % 300 === 0) say(`waiting for ${open.length}: ${open.slice(0, 5).join('; ')}`);
      await sleep(200);
    }
  }

  /** @param calm a happy and an unhappy customer of each vendor, with whom nothing was killed */
  async judge(calm: readonly Customer[]): Promise<string[]> {
    const findings: string[] = [];
    const asked = Map.groupBy(this.#feedback.requests(), ({ email }) => email ?? '');
    for (const customer of this.customers) {
      const { desk, recordId, email } = customer;
      const find = (what: string) => findings.push(`${desk.source}/${recordId} (${customer.grades}): ${what}`);
      const requests = asked.get(email)?.length ?? 0;
      if (requests !== 1) find(`asked ${requests} times`);
      const acts = ((await this.journey(customer))?.acting?.acts ?? []).map(({ name, state, why }) =>
        `${name} ${state} ${why ?? ''}`.trim(),
      );
      const wanted = isUnhappy(customer) ? [...desk.actions.map(([name]) => `${name} done`), 'followUp done'] : [];
      if (`${acts}` !== `${wanted}`) find(`did ${acts.join(', ') || 'nothing'}`);
      const like = calm.find((one) => one.desk === desk && isUnhappy(one) === isUnhappy(customer));
      if (like === undefined) throw new Error(`nobody at ${desk.source} to compare with`);
      const [is, was] = [customer, like].map(leavesOf);
      for (const sign of [sentinel, '.unhappy.'])
        if (countIn(is ?? [], sign) !== countIn(was ?? [], sign))
          find(`has "${sign}" ${countIn(is ?? [], sign)} times, not ${countIn(was ?? [], sign)}`);
      const isAlike = isCorrected(customer) || customer.isClosedAgain || `${is}` === `${was}`;
      if (!isAlike) find(`holds ${without(is, was)}, and lacks ${without(was, is)}`);
    }
    return findings;
  }
}

function without(all: readonly string[] = [], others: readonly string[] = []): string {
  const left = [...others];
  const more = all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return more.join(' | ') || 'nothing';
}

/** One run, from its start to what is found. What it started is gone when it resolves. */
export async function actingRun({ answers, kills, seed, say }: ActingOptions): Promise<ActingReport> {
  const begun = Date.now();
  const dir = mkdtempSync(join(tmpdir(), 'closeloop-acting-'));
  const socket = join(dir, 'redis.sock');
  const chance = chanceOf(seed).fork('acting');
  const service = await startFeedbackStandin();
  const feedback = service.standin;
  feedback.addAccount({ name: 'acme' });
  feedback.addKey({ account: 'acme', key: 'demo-key' });
  feedback.addCampaign({ account: 'acme', id: 41, customFields: [{ name: 'closeloop' }] });
  useRealClocks();
  const desks = await openDesks();
  const config = join(dir, 'closeloop.yaml');
  writeFileSync(config, configuration(desks, service.url, socket));
  const logs = join(dir, 'logs');
  mkdirSync(logs);
  const world = new World(desks, feedback);
  const redisServer = await keepRedis({ dir: join(dir, 'redis'), socket, fsync: 'always' });
  const redis = new Redis({ path: socket, maxRetriesPerRequest: null, retryStrategy: () => 200 });
  redis.on('error', () => undefined);
  const onUrl = (url: string | undefined) => {
    world.intake = url;
  };
  const kept: Kept[] = [
    redisServer,
    keepCloseloop({ role: 'intake', name: 'intake', config, logs, onUrl }),
    ...[0, 1].map((n) => keepCloseloop({ role: 'worker', name: `worker-${n}`, config, logs })),
  ];
  const timer = setInterval(() => world.answer(), 50);
  try {
    while (!kept.every(({ isUp }) => isUp)) await sleep(50);
    const seal = await sealOf(redis);
    for (const { source } of desks)
      world.stores.set(source, new JourneyStore(redis, source, { now: () => new Date(), seal }));
    const calm: Customer[] = [];
    for (const grade of [happy, unhappy]) for (const _ of desks) calm.push(await world.close([grade]));
    await world.untilOver(say, calm);
    say(`${calm.length} customers without a kill: ${Math.round((Date.now() - begun) / 1_000)} s`);

    let done = 0;
    const killing = (async () => {
      for (; done < kills; done += 1) {
        const victim = kept[Math.floor(chance.next() * kept.length)];
        await sleep(300 + chance.next() * 1_200);
        await victim?.suffer({ how: 'SIGKILL', forMs: 200 });
      }
    })();
    for (let n = 0; n < answers; n += 1) {
      await world.close(gradesOf(n));
      // As many closings are still to come as kills.
      while (done < kills && n / answers > (done + 1) / kills) await sleep(50);
      if (n % 50 === 49) say(`${n + 1} of ${answers} closed, ${done} of ${kills} kills`);
      if (n % 20 === 19) await world.closeAgain();
    }
    await killing;
    say('the kills are over');
    await world.untilOver(say);
    await world.closeAgain();
    // The time of what a vendor may still carry out, and of what an agent's closing begins.
    await sleep(5_000);
    await world.untilOver(say);
    const findings = await world.judge(calm);
    return {
      answered: world.customers.filter(({ given }) => given > 0).length,
      acted: world.customers.filter(isUnhappy).length,
      corrected: world.customers.filter(isCorrected).length,
      closedAgain: world.customers.filter(({ isClosedAgain }) => isClosedAgain).length,
      kills: done,
      crashes: kept.flatMap(({ crashes }) => crashes),
      findings,
      seconds: Math.round((Date.now() - begun) / 1_000),
    };
  } finally {
    clearInterval(timer);
    redis.disconnect();
    await Promise.all(kept.map((one) => one.end()));
    await Promise.all([service.close(), ...desks.map(({ vendor }) => vendor.close())]);
    rmSync(dir, { recursive: true, force: true });
  }
}
