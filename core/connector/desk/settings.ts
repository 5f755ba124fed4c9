import { z } from 'zod';
import { answerPlaces, noAnswerNeeds } from '../settings.ts';

/** What `writeBack` of a desk offers beside the places of an answer. */
interface DeskWriteBack {
  /** What a place has to be at this vendor: 'the name of a ticket field'. */
  takes: string;
  /** What the note is at this vendor: 'a private comment: one more call per answer'. */
  note: string;
  /** Longer comments are cut to this. */
  commentLength: { most: number; initial: number };
}

/** The schema of `writeBack`: the places of an answer, a note, what an expired request leaves. @param place the schema of one place */
export function deskWriteBack<Place extends z.ZodType>(place: Place, { takes, note, commentLength }: DeskWriteBack) {
  const words = { grade: takes, comment: takes, answeredAt: takes, status: takes, answers: takes };
  return z
    .strictObject({
      ...answerPlaces(place, words),
      commentLength: z
        .int()
        .min(50)
        .max(commentLength.most)
        .default(commentLength.initial)
        .describe('Longer comments are cut'),
      note: z.boolean().default(false).describe(note),
      noAnswer: z.boolean().default(false).describe('Writes `no-answer` into `status` when a journey expires'),
    })
    .refine(...noAnswerNeeds(['status'], 'needs writeBack.status, which takes it'))
    .prefault({})
    .describe('Where the answer goes; each is optional');
}
