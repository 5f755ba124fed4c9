import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Acknowledged } from './balancer.ts';
import { type PlannedRecord, sources, type Vendor } from './plan.ts';
import { type Shown, shown, type Taken, type World } from './world.ts';

/** A journey as it lies in Redis, read past closeloop's own code. */
const Stored = z.object({
  source: z.string(),
  recordId: z.string(),
  state: z.string(),
  why: z.string().optional(),
  requestId: z.string().optional(),
  updatedAt: z.coerce.date(),
  answer: z
    .object({ grade: z.number().nullable(), comment: z.string().nullable(), seenAt: z.coerce.date() })
    .optional(),
});
export type StoredJourney = z.output<typeof Stored> & { id: string };

/** What a customer said in the end, by what the service holds. */
export interface Said {
  requestId: number;
  contact: string;
  /** Before it was sent: they know nothing of it. */
  isCancelled: boolean;
  grade: number | null;
  comment: string | null;
}

export interface Step {
  do: 'close' | 'reopen';
  at: number;
}

export interface Evidence {
  records: readonly PlannedRecord[];
  acknowledged: readonly Acknowledged[];
  taken: readonly Taken[];
  said: readonly Said[];
  journeys: readonly StoredJourney[];
  shown: ReadonlyMap<string, Shown>;
  /** What happened to records in fact, by key: real time, in order. */
  steps: ReadonlyMap<string, readonly Step[]>;
}

export const keyOf = ({ vendor, id }: { vendor: Vendor; id: number }): string => `${vendor}:${id}`;

/** Zendesk's tickets go by their number, HubSpot's by kind and number. */
export function keyOfJourney({ source, recordId }: Pick<StoredJourney, 'source' | 'recordId'>): string {
  return source === sources.desk ? `desk:${recordId}` : `crm:${recordId.replace('ticket-', '')}`;
}

export async function journeysIn(redis: Redis): Promise<StoredJourney[]> {
  const found: StoredJourney[] = [];
  for await (const keys of redis.scanStream({ match: '{cl:*}:journey:*', count: 1_000 })) {
    const names = z.array(z.string()).parse(keys);
    const pipeline = redis.pipeline();
    for (const name of names) pipeline.hget(name, 'data');
    const answers = (await pipeline.exec()) ?? [];
    for (const [i, [, data]] of answers.entries()) {
      if (typeof data !== 'string') continue;
      found.push({ ...Stored.parse(JSON.parse(data)), id: names[i]?.split(':journey:')[1] ?? '' });
    }
  }
  // A scan may give a key twice.
  return [...new Map(found.map((journey) => [`${journey.source}/${journey.id}`, journey])).values()];
}

export function saidAt(world: Pick<World, 'feedback'>): Said[] {
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
  known: Pick<Evidence, 'records' | 'acknowledged' | 'steps'>,
): Promise<Evidence> {
  return {
    ...known,
    taken: world.taken,
    said: saidAt(world),
    journeys: await journeysIn(redis),
    shown: new Map(known.records.map((record) => [keyOf(record), shown(world, record.vendor, record.id)])),
  };
}
