import type { Journey } from '../../journey/journey.ts';
import type { SourceContext } from '../context.ts';

/** The most journeys that are read in each state of a source, oldest first. */
const most = 100;
/** How long an answer may still be changed, or get a comment. */
const lateMs = 86_400_000;
/** The service's clock is its own: a window begins this much before the request of the oldest journey. */
const marginMs = 3_600_000;

export interface Expected {
  /** Journeys whose answer is expected, or came lately, with their requests. */
  journeys: { journey: Journey; requestId: string; source: SourceContext }[];
  /** Whether `journeys` is complete; else there are newer ones. */
  areAll: boolean;
  /** A lower bound of the journeys' requests, by id and by time; undefined where there are none. */
  oldest: { id: string; scheduled: Date } | undefined;
}

/** Lists the campaign's journeys. `areAll` and `oldest` are of all campaigns and sources, as their requests share one numbering. */
export async function expectedIn(campaign: number, sources: readonly SourceContext[], now: Date): Promise<Expected> {
  const since = new Date(now.getTime() - lateMs);
  const journeys: Expected['journeys'] = [];
  let areAll = true;
  for (const source of sources) {
    const { queries } = source.store;
    const lists = await Promise.all([
      queries.oldestIn('asked', { limit: most }),
      queries.oldestIn('answered', { since, limit: most }),
      queries.oldestIn('written', { since, limit: most }),
      queries.oldestIn('tested', { since, limit: most }),
    ]);
    areAll &&= lists.every(({ length }) => length < most);
    for (const journey of lists.flat()) {
      if (journey.requestId !== undefined) journeys.push({ journey, requestId: journey.requestId, source });
    }
  }
  const isHere = ({ journey }: Expected['journeys'][number]) => journey.campaign === campaign;
  return { journeys: journeys.filter(isHere), areAll, oldest: oldestOf(journeys) };
}

function oldestOf(journeys: Expected['journeys']): Expected['oldest'] {
  if (journeys.length === 0) return undefined;
  const ids = journeys.map(({ requestId }) => requestId);
  const least = ids.reduce((a, b) => (Number(b) < Number(a) ? b : a));
  const times = journeys.map(({ journey }) => (journey.askedAt ?? journey.closedAt).getTime());
  const first = times.reduce((a, b) => Math.min(a, b));
  return { id: least, scheduled: new Date(first - marginMs) };
}
