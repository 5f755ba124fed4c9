import { z } from 'zod';
import { answerPlaces, noAnswerNeeds, ownPlaces } from '../settings.ts';

interface DeskWriteBack {
  /** What a place has to be at this vendor: 'the name of a ticket field'. */
  takes: string;
  /** What the note is at this vendor: 'Adds a private comment: one more call per answer'. */
  note: string;
  /** In UTF-16 units; longer comments are cut. */
  commentLength: { most: number; initial: number };
}

/**
 * The schema of `writeBack`: the places of an answer, a note, whether it is written that no answer came. More settings come by
 * `deskWriteBack(…).unwrap().safeExtend({ … }).prefault({})`.
 * @param place the schema of one place
 */
export function deskWriteBack<Place extends z.ZodType>(
  place: Place,
  { takes, note, commentLength: { most, initial } }: DeskWriteBack,
) {
  return z
    .strictObject({
      ...answerPlaces(place, { grade: takes, comment: takes, answeredAt: takes, status: takes, answers: takes }),
      commentLength: z.int().min(50).max(most).default(initial).describe('Longer comments are cut'),
      note: z.boolean().default(false).describe(note),
      noAnswer: z.boolean().default(false).describe('Writes `no-answer` as the status when a journey expires'),
    })
    .refine(...noAnswerNeeds(['status', 'tags'], 'needs writeBack.status, which takes it'))
    .refine(...ownPlaces)
    .prefault({})
    .describe('Where the answer goes; each is optional');
}
