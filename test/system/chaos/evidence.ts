import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { TraceLine } from '../../../worker/journey/journey.ts';
import { unpack } from '../../../worker/journey/stored-journey.ts';
import { sealOf } from '../../support/seal.ts';
import type { Acknowledged, Erased } from './balancer.ts';
import { type Act, type PlannedRecord, sources, type Vendor } from './planned-record.ts';
import type { PolicySettings, PolicyVersion } from './policy.ts';
import { type Shown, shown } from './shown.ts';
import type { Sightings } from './sightings.ts';
import type { SaidAt, Taken, World } from './world.ts';

/** A journey as it lies in Redis, read past closeloop's own store. */
const Stored = z.object({
  source: z.string(),
  recordId: z.string(),
  state: z.string(),
  why: z.string().optional(),
  rule: z.string().optional(),
  requestId: z.string().optional(),
  /** newer-version.ts */
  ofNewerVersion: z.string().optional(),
  contact: z.object({ value: z.string() }).optional(),
  updatedAt: z.coerce.date(),
  closedAt: z.coerce.date(),
  /** Of a journey that waits: until when. */
  dueAt: z.coerce.date().optional(),
  erasedAt: z.coerce.date().optional(),
  answer: z
    .object({ grade: z.number().nullable(), comment: z.string().nullable(), seenAt: z.coerce.date() })
    .optional(),
});
export type StoredJourney = z.output<typeof Stored> & { id: string; trace: readonly TraceLine[] };

/** What a customer said in the end, by what the service holds. */
export interface Said {
  requestId: number;
  contact: string;
  /** Before it was sent: they know nothing of it. */
  isCancelled: boolean;
  grade: number | null;
  comment: string | null;
}

/** What happened to a record. */
export interface Step {
  do: Act['do'];
  /** What became of it, where that isn't all. */
  to?: object;
  at: number;
}

/** A version of the configuration, and the instants in which a process may have gone by it. */
export interface Regime {
  version: PolicyVersion;
  from: number;
  until: number;
}

/** A person whose erasure was acknowledged, by the record that was about them. */
export interface Forgotten {
  /** Of the record: `keyOf`. */
  key: string;
  /** Of the acknowledgement. */
  at: number;
  /** Names of Redis keys that hold, or whose values hold, the contact in clear. */
  inClear: readonly string[];
}

export const isAnswer = ({ grade, comment }: Pick<Said, 'grade' | 'comment'>): boolean =>
  grade !== null || comment !== null;

export interface Evidence {
  records: readonly PlannedRecord[];
  acknowledged: readonly Acknowledged[];
  forgotten: readonly Forgotten[];
  taken: readonly Taken[];
  said: readonly Said[];
  journeys: readonly StoredJourney[];
  shown: ReadonlyMap<string, Shown>;
  /** What each customer had said of a request from an instant on, in order. */
  saidAt: readonly SaidAt[];
  sightings: Sightings;
  regimes: readonly Regime[];
  settings: PolicySettings;
  /** When nothing happened any more. */
  endedAt: number;
  /** Journeys that lost what a newer version had stored. */
  fieldsDropped: readonly string[];
  /** What happened to records in fact, by key: real time, in order. */
  steps: ReadonlyMap<string, readonly Step[]>;
}

export const keyOf = ({ vendor, id }: { vendor: Vendor; id: number }): string => `${vendor}:${id}`;

const vendors: readonly Vendor[] = ['desk', 'plain', 'crm'];

/** Zendesk's tickets go by their number, HubSpot's by kind and number. */
export function keyOfJourney({ source, recordId }: Pick<StoredJourney, 'source' | 'recordId'>): string {
  const vendor = vendors.find((one) => sources[one] === source);
  if (vendor === undefined) throw new Error(`a journey is of source ${source}, which the configuration never had`);
  return `${vendor}:${recordId.replace('ticket-', '')}`;
}

/** @param apiKey of the configuration: what seals the journeys where it has no `secretsKey` */
export async function journeysIn(redis: Redis, apiKey = 'chaos-key'): Promise<StoredJourney[]> {
  const seal = await sealOf(redis, apiKey);
  const found: StoredJourney[] = [];
  for await (const keys of redis.scanStream({ match: '{cl:*}:journey:*', count: 1_000 })) {
    const names = z.array(z.string()).parse(keys);
    const pipeline = redis.pipeline();
    for (const name of names) pipeline.getBuffer(name);
    const answers = (await pipeline.exec()) ?? [];
    for (const [i, [, stored]] of answers.entries()) {
      if (!Buffer.isBuffer(stored)) continue;
      const id = names[i]?.split(':journey:')[1] ?? '';
      const packed = seal.openBytes(
        stored.subarray(stored.indexOf(' ', stored.indexOf(' ') + 1) + 1),
        `journey of ${id.slice(0, id.lastIndexOf('.'))}`,
      );
      const { journey, trace } = unpack(packed);
      found.push({ ...Stored.parse(journey), id, trace });
    }
  }
  // A scan may give a key twice.
  return [...new Map(found.map((journey) => [`${journey.source}/${journey.id}`, journey])).values()];
}

async function forgottenIn(
  redis: Redis,
  { world, records, erased }: { world: World; records: readonly PlannedRecord[]; erased: readonly Erased[] },
): Promise<Forgotten[]> {
  const everything = await dumpOf(redis);
  return erased.flatMap(({ personId, at }) => {
    const contact = world.contactOf(personId);
    const record = records.find((one) => one.vendor === 'crm' && one.people[0].email === contact);
    if (contact === undefined || !record) return [];
    const inClear = everything.flatMap(([name, dump]) =>
      name.includes(contact) || dump.includes(contact) ? [name] : [],
    );
    return [{ key: keyOf(record), at, inClear }];
  });
}

/** Every key, with its value as one text. */
async function dumpOf(redis: Redis): Promise<[name: string, text: string][]> {
  const found: [string, string][] = [];
  for await (const keys of redis.scanStream({ count: 1_000 })) {
    for (const name of z.array(z.string()).parse(keys)) {
      found.push([name, JSON.stringify(await readKey(redis, name))]);
    }
  }
  return found;
}

async function readKey(redis: Redis, name: string): Promise<unknown> {
  switch (await redis.type(name)) {
    case 'string':
      return await redis.get(name);
    case 'hash':
      return await redis.hgetall(name);
    case 'list':
      return await redis.lrange(name, 0, -1);
    case 'set':
      return await redis.smembers(name);
    case 'zset':
      return await redis.zrange(name, '0', '-1');
    case 'stream':
      return await redis.xrange(name, '-', '+');
    default:
      return null;
  }
}

export function saidIn(world: Pick<World, 'feedback'>): Said[] {
  return world.feedback.requests().map(({ id, email, status, grade, comment }) => ({
    requestId: id,
    contact: email ?? '',
    isCancelled: status === 'Cancelled',
    grade,
    comment,
  }));
}

export async function gather(
  world: World,
  redis: Redis,
  known: Pick<Evidence, 'records' | 'acknowledged' | 'steps' | 'regimes' | 'settings'> & { erased: readonly Erased[] },
): Promise<Omit<Evidence, 'fieldsDropped'>> {
  const { erased, ...rest } = known;
  return {
    ...rest,
    forgotten: await forgottenIn(redis, { world, records: known.records, erased }),
    taken: world.taken,
    saidAt: world.said,
    sightings: world.sightings,
    endedAt: Date.now(),
    said: saidIn(world),
    journeys: await journeysIn(redis),
    shown: new Map(known.records.map((record) => [keyOf(record), shown(world, record.vendor, record.id)])),
  };
}
