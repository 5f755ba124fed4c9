import { z } from 'zod';
import { sources, type Vendor } from './planned-record.ts';
import type { Chance } from './random.ts';

/** One closing as a vendor announced it, in a delivery that an intake answered with 2xx. */
export interface Acknowledged {
  vendor: Vendor;
  id: number;
  /** By the vendor's clock. */
  at: number;
  /** Of the 2xx. */
  answeredAt: number;
}

/** An erasure that the vendor announced in a delivery that an intake answered with 2xx. */
export interface Erased {
  /** The vendor's id of the person. */
  personId: number;
  /** Of the answer: until then closeloop may not have heard of it. */
  at: number;
}

/** Stands before the intakes: every delivery goes to one of them, now and then to all. Notes what was acknowledged. */
export interface Balancer {
  fetch: typeof globalThis.fetch;
  /** Where the intakes are now; one that has just been killed is still called. */
  urls: (string | undefined)[];
  acknowledged: readonly Acknowledged[];
  erased: readonly Erased[];
  /** Deliveries by what they met, for the report. */
  met: Record<string, number>;
}

const Desk = z.object({
  type: z.literal('zen:event-type:ticket.status_changed'),
  time: z.string(),
  event: z.object({ current: z.string() }),
  detail: z.object({ id: z.coerce.number() }),
});
const Crm = z.array(
  z.object({
    subscriptionType: z.string(),
    objectId: z.number(),
    occurredAt: z.number(),
    propertyValue: z.string().optional(),
  }),
);

const deskOf = (url: string): 'desk' | 'plain' | undefined =>
  (['desk', 'plain'] as const).find((vendor) => url.endsWith(`/${sources[vendor]}`));

/** The closings that a delivery tells of. */
export function closingsIn(url: string, body: string): Omit<Acknowledged, 'answeredAt'>[] {
  const json: unknown = JSON.parse(body);
  const desk = deskOf(url);
  if (desk) {
    const { data } = Desk.safeParse(json);
    if (data?.event.current !== 'SOLVED') return [];
    return [{ vendor: desk, id: data.detail.id, at: Date.parse(data.time) }];
  }
  return Crm.parse(json).flatMap(({ subscriptionType, objectId, occurredAt, propertyValue }) =>
    subscriptionType === 'ticket.propertyChange' && propertyValue === '4'
      ? [{ vendor: 'crm' as const, id: objectId, at: occurredAt }]
      : [],
  );
}

/** The people whose erasure a delivery tells of. */
function erasuresIn(url: string, body: string): number[] {
  if (deskOf(url)) return [];
  return Crm.parse(JSON.parse(body)).flatMap(({ subscriptionType, objectId }) =>
    subscriptionType === 'contact.privacyDeletion' ? [objectId] : [],
  );
}

export function createBalancer(chance: Chance): Balancer {
  const acknowledged: Acknowledged[] = [];
  const erased: Erased[] = [];
  const met: Record<string, number> = {};
  const count = (what: string): void => {
    met[what] = (met[what] ?? 0) + 1;
  };
  const balancer: Balancer = {
    urls: [],
    acknowledged,
    erased,
    met,
    fetch: async (input, init) => {
      const url = new URL(String(input));
      // Mostly one that is up, as a load balancer with health checks would; now and then it hasn't noticed yet.
      const up = balancer.urls.filter((url) => url !== undefined);
      const choice = up.length > 0 && chance.happens(0.8) ? up : balancer.urls;
      const first = choice[chance.int(0, choice.length - 1)];
      const isForAll = chance.happens(0.15);
      const post = async (origin: string | undefined): Promise<Response> => {
        // Nothing listens: as a load balancer without a healthy server would say, or the system's "connection refused".
        if (origin === undefined) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
        const response = await fetch(`${origin}${url.pathname}`, init);
        if (response.ok) {
          const body = String(init?.body ?? '');
          const answeredAt = Date.now();
          acknowledged.push(...closingsIn(url.pathname, body).map((one) => ({ ...one, answeredAt })));
          erased.push(...erasuresIn(url.pathname, body).map((personId) => ({ personId, at: Date.now() })));
        }
        return response;
      };
      try {
        const answers = isForAll ? await Promise.all(balancer.urls.map(post)) : [await post(first)];
        const [answer] = answers;
        if (answer === undefined) throw new TypeError('there is no intake');
        count(String(answer.status));
        return answer;
      } catch (error) {
        count(error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'no connection');
        throw error;
      }
    },
  };
  return balancer;
}
