import type { Journey } from '../journey/journey.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import type { Searched } from '../support/journey-filter.ts';
import { journeyPage } from '../support/journey-pages.ts';
import { instantsOf, type Period } from './period.ts';

/** The most journeys that are read for the newest comments. */
export const mostAnswers = 500;

export interface Comment {
  source: string;
  /** The id of the journey. */
  id: string;
  journey: string;
  /** The record's id, as events name it. */
  record: string;
  at: Date;
  comment: string;
  grade: number | null;
  maxGrade?: number | undefined;
  campaign?: number | undefined;
  campaignName?: string | undefined;
  rule?: string | undefined;
  /** Values of custom fields. */
  values: Readonly<Record<string, string | number | boolean>>;
}

interface Wanted extends Period {
  /** The account's. */
  timeZone: string;
  /** So many. */
  size: number;
  campaign?: number | undefined;
  grade?: number | undefined;
  /** A further condition. */
  fits?: ((journey: Journey) => boolean) | undefined;
}

/** The comments of customers who were asked in this period, newest first, on requests that closeloop made. */
export async function newestComments(
  sources: readonly Searched[],
  { since, until, timeZone, size, campaign, grade, fits = () => true }: Wanted,
): Promise<Comment[]> {
  const period = instantsOf({ since, until }, timeZone);
  const { found } = await journeyPage(sources, {
    lists: ['answered', 'written'],
    since: period.from,
    size,
    most: mostAnswers,
    fits: (journey) => {
      const { answer, askedAt, campaign: of, test } = journey;
      return (
        (answer?.comment ?? '').trim() !== '' &&
        test === undefined &&
        askedAt !== undefined &&
        askedAt >= period.from &&
        askedAt < period.until &&
        (campaign === undefined || campaign === of) &&
        (grade === undefined || grade === answer?.grade) &&
        fits(journey)
      );
    },
  });
  return found.flatMap(({ journey, context }) => {
    const { id, answer, maxGrade, campaign: of, campaignName, rule, values = {} } = journey;
    if (!answer?.comment) return [];
    const { comment, grade: given, seenAt: at } = answer;
    const about = { source: context.name, id, journey: refOf(context.name, id), record: currentRecordOf(journey) };
    return [{ ...about, at, comment, grade: given, maxGrade, campaign: of, campaignName, rule, values }];
  });
}
