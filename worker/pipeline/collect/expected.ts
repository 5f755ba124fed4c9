import type { Journey } from '../../journey/journey.ts';
import type { SourceContext } from '../context.ts';

/** Of each state of a source, the oldest. */
const most = 100;
/** An answer that came may be changed, or get a comment, within this time. */
const lateMs = 86_400_000;
/** The service's instants, and their order, are its own: a window begins earlier than the first journey's request by so much. */
const marginMs = 3_600_000;

export interface Expected {
  /** Those whose answer is expected, or came of late, with their requests. */
  journeys: { journey: Journey; requestId: string; source: SourceContext }[];
  /** These are all of them; else there are newer ones. */
  areAll: boolean;
  /** No request of theirs is older than this, by either; undefined where there is none. */
  oldest: { id: string; scheduled: Date } | undefined;
}

/** Journeys over all sources, as requests of all campaigns are numbered together. Those of `campaign` are listed. */
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
