import { z } from 'zod';
import { answerPlaces, noAnswerNeeds, ownPlaces, yesOrNo } from '../settings.ts';

interface DeskWriteBack {
  /** A valid place at this vendor: 'the name of a ticket field'. */
  takes: string;
  /** The kind of note at this vendor: 'Adds a private comment: one more call per answer'. */
  note: string;
  /** Limits in UTF-16 units; closeloop cuts longer comments. */
  commentLength: { most: number; initial: number };
}

/**
 * The schema of `writeBack`: the places of an answer, a note, and whether closeloop writes `no-answer`. Connectors add settings by
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
      note: yesOrNo(note),
      noAnswer: yesOrNo('Writes `no-answer` as the status when a journey expires'),
    })
    .refine(...noAnswerNeeds(['status', 'tags'], 'needs writeBack.status, which takes it'))
    .refine(...ownPlaces)
    .prefault({})
    .describe('Where the answer goes; each is optional');
}
