import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { capSlots } from '../../../../worker/journey/cap-slots.ts';
import { ContactMemory } from '../../../../worker/journey/contacts.ts';
import { Erasures } from '../../../../worker/journey/erasures.ts';
import type { Journey, JourneyState } from '../../../../worker/journey/journey.ts';
import { createSnapshotStore } from '../../../../worker/journey/snapshots.ts';
import { JourneyStore } from '../../../../worker/journey/store.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { JobQueue } from '../../../../worker/pipeline/job-queue.ts';
import { AskJob, EraseJob, PlanJob, WriteBackJob } from '../../../../worker/pipeline/jobs.ts';
import type { RedisClient } from '../../../../worker/redis/client.ts';
import { dataVersion } from '../../../../worker/redis/data-version.ts';
import { tagOf } from '../../../../worker/redis/keys.ts';
import type { Seal } from '../../../../worker/redis/seal.ts';
import { noteSources } from '../../../../worker/sources/known-sources.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';

/** The data version, and the fingerprint of all that it stores. A changed form takes both: see the message of the test. */
const stored = { version: 3, fingerprint: '0fecdda4e204f48c' };

const redis = useRedis();
const source = 'forms';
const tag = tagOf(source);
const at = new Date('2026-05-04T08:00:00Z');
const keepMs = 86_400_000;
const contact = { kind: 'email', value: 'erika@example.com' } as const;
/** Its end repeats its beginning from far away. */
const story = `${Array.from({ length: 1_000 }, (_, n) => n ** 3).join(' ')} 0 1 8 27 64 125 216 343 512 729 1000`;
const due = { rule: 'all', campaign: 12, contact, personId: '7', values: { Store: 'Tartu', Story: story }, dueAt: at };
const asked: Partial<Journey> = { requestId: 'request-700000001', askedAt: at };
const answer = { grade: 5, comment: 'good', seenAt: at, version: 1 };

/** Journeys in the states in which journeys stay, and on their way. */
const lives: [JourneyState, Partial<Journey>][][] = [
  [],
  [['skipped', { reason: 'no-rule', why: 'no rule applies' }]],
  [['waiting', due]],
  [
    ['waiting', due],
    ['creating', { attempts: 1 }],
    ['asked', asked],
  ],
  [
    ['waiting', due],
    ['creating', { attempts: 1 }],
    ['asked', { ...asked, requestId: 'request-710000001' }],
    ['answered', { answer }],
    ['written', { writtenVersion: 1 }],
  ],
];

/** Shows what is sealed. */
const open: Seal = {
  digest: testSeal.digest,
  seal: (text) => `sealed(${text})`,
  open: (sealed) => sealed.slice('sealed('.length, -1),
  sealBytes: (bytes) => Buffer.from(bytes),
  openBytes: (sealed) => Buffer.from(sealed),
};

/** Everything is stored by what stores it in earnest. */
async function storeAll(client: RedisClient): Promise<void> {
  let ms = at.getTime();
  const now = () => {
    ms += 1_000;
    return new Date(ms);
  };
  const seal = open;
  const store = new JourneyStore(client, source, { now, seal });
  for (const [n, steps] of lives.entries()) {
    const claim = {
      recordId: `record-${n}00000001`,
      closing: 'first',
      closedAt: at,
      eventKey: `event ${n}`,
      receivedAt: at,
    };
    let { journey } = await store.getOrCreate(claim, ['begun']);
    for (const [state, change] of steps)
      journey =
        (await store.update(journey, (one) => ({ journey: step(one, state, now(), change), trace: [state] }))) ??
        journey;
  }
  const people = new ContactMemory(client, seal, keepMs);
  await people.link('email:erika@example.com', ['phone:+37255500000']);
  const note = { at, journey: `${source} r3.1` };
  await people.reserve({ contactKey: 'email:erika@example.com', campaign: 12, note, limits: [] });
  const waits = { journey: `${source} r2.1`, campaign: 12, closedAt: at, dueAt: at };
  await people.waits.note('email:erika@example.com', waits);
  await createSnapshotStore(client, { tag, keepMs, seal }).save('r1', at, { subject: 'late' });
  const hour = { hour: at.getTime(), dayFrom: at.getTime(), dayUntil: at.getTime() + keepMs, openMsThen: 1, openMs: 1 };
  await capSlots(client, 'forms').take('r2.1', [{ name: 'all', hour: 5 }], { keeps: 0, since: 0 }, [hour]);
  const erasure = { key: 'e', what: 'a person', receivedAt: at, everybody: false };
  await new Erasures(client, source, seal).begin(erasure, [
    { kind: 'contact', key: 'email:erika@example.com', forms: [contact], done: false, masked: 0 },
  ]);
  const known = { name: source, storedAs: source, connector: 'toy', writesNoAnswer: false, polls: true, contacts: [] };
  await noteSources(client, [known]);
  const connection = { path: redis.socket };
  const shared = { prefix: tag, connection, seal, onLost: () => undefined };
  const event = { id: 'r1', key: 'event', at, receivedAt: at };
  const jobs = [
    [PlanJob, 'plan', { kind: 'closed', recordId: 'r1', ...event, certain: true }],
    [AskJob, 'ask', { journeyId: 'r2.1' }],
    [WriteBackJob, 'write-back', { journeyId: 'r4.1' }],
    [EraseJob, 'erase', { kind: 'erase', key: 'e', what: 'a person', subjects: [], receivedAt: at }],
  ] as const;
  for (const [data, name, job] of jobs) {
    const queue = new JobQueue<z.ZodType>({ ...shared, name, data });
    await queue.add([{ id: `${name}-one`, data: job, delayMs: keepMs }]);
    await queue.queue.close();
  }
}

/** What differs from run to run: instants of real time. Digests are as long as ever. */
const steady = (text: string): string =>
  text.replace(/[\w+/=-]{20,}/g, '<digest>').replace(/\b\d{13,16}\b|"20\d\d-[^"]*Z"/g, '<instant>');

/** Bytes that are no text as they are: a packed journey is the same in every run. */
function shown(value: Buffer): string {
  const text = value.toString();
  return Buffer.from(text).equals(value) ? steady(text) : value.toString('hex');
}

async function storedAt(client: RedisClient, key: string): Promise<unknown> {
  const type = await client.type(key);
  if (type === 'string') return shown((await client.getBuffer(key)) ?? Buffer.alloc(0));
  if (type === 'hash') {
    const fields = Object.entries(await client.hgetallBuffer(key));
    return fields.map(([field, value]) => `${steady(field)}: ${shown(value)}`).sort();
  }
  if (type === 'zset') return (await client.zrange(key, '0', '-1', 'WITHSCORES')).map(steady);
  if (type === 'set') return (await client.smembers(key)).map(steady).sort();
  return type === 'list' ? (await client.lrange(key, 0, -1)).map(steady) : type;
}

/** BullMQ's own, which its version tells. */
const ofLibrary = /:(?:events|meta|marker|id|stalled-check)$/;

test('a stored form changes with the data version', async () => {
  const { client } = redis.handle;
  await storeAll(client);
  const keys = (await client.keys('*')).filter((key) => !ofLibrary.test(key)).sort();
  const all: unknown[] = [];
  for (const key of keys) all.push([steady(key), (await client.pttl(key)) > 0, await storedAt(client, key)]);
  const text = JSON.stringify([all, steady(testSeal.seal('a text'))]);
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const version = dataVersion;
  const what =
    'What closeloop stores has another form than before. Where an earlier closeloop would misread it, raise dataVersion and add a migration ' +
    `(worker/journey/migrations.ts). Then put this line into this test: const stored = { version: ${version}, fingerprint: '${fingerprint}' };`;
  expect({ version, fingerprint }, what).toEqual(stored);
});
