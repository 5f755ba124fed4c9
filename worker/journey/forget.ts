import { type RedisClient, runScript } from '../redis/client.ts';
import { type Journey, onlyKnown } from './journey.ts';
import { answeredAt, type JourneyKeys, listedAt } from './journey-keys.ts';
import { forgetScript } from './journey-scripts.ts';
import { mayFollow, step } from './transitions.ts';

/** Removes a journey with all that is stored of it, unless its revision is another by now (`JourneyStore.forget`). */
export async function forgetJourney(
  journey: Journey,
  rev: string,
  redis: RedisClient,
  of: JourneyKeys,
): Promise<boolean> {
  const { id, recordId, state, requestId = '' } = journey;
  const keys = [of.journey(id), of.state(state), of.requests(requestId), of.records(recordId), of.answers];
  const people = of.people(journey).flatMap((digest) => of.personEntry(digest, journey));
  const instants = [listedAt(journey).getTime(), answeredAt(journey)?.getTime() ?? ''];
  const args = [id, requestId, rev, of.tag, recordId, ...instants, ...people];
  return (await runScript(redis, forgetScript, keys, ...args)) === 1;
}

/**
 * The journey without the person: contact, values, answer and whatever leads to the person are removed, and the journey ends. The
 * closing stays known, so that nobody is asked about it again. Not for a journey in `creating`, whose outcome must be known first.
 * @param to how a journey ends that has asked nobody yet: `skipped` where its person was erased before anybody told of the closing
 */
export function erased(journey: Journey, at: Date, to: 'cancelled' | 'skipped' = 'cancelled'): Journey {
  // Fields of another version may hold personal data, too.
  const known = onlyKnown(journey);
  const { contact: _, personId: _1, values: _2, answer: _3, survey: _4, given: _5, intent: _6, ...others } = known;
  const { place: _7, why: _8, searched: _9, alsoKnownAs: _10, locale: _11, followUp: _12, ...rest } = others;
  const said =
    to === 'skipped'
      ? ({ reason: 'erased', why: 'its person was erased after the record was closed' } as const)
      : { why: 'erased at the request of the person or the vendor' };
  const ends = mayFollow(journey.state, to);
  // A journey that was skipped for a reason of its own keeps that reason, with its sentence.
  const isKept = to === 'skipped' && journey.state === 'skipped' && journey.why !== undefined;
  const after = ends ? step(rest, to, at, said) : { ...rest, why: isKept ? journey.why : said.why, updatedAt: at };
  // The closing's name comes from the vendor and may name a person; the record's hash keeps a digest.
  return { ...after, closing: 'erased', erasedAt: at };
}
