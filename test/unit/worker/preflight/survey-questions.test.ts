import { expect, test } from 'vitest';
import type { Survey } from '../../../../core/feedback/schemas.ts';
import { surveyFindings } from '../../../../worker/preflight/survey-questions.ts';

const question = { instructions: '', required: false, is_active: true, answer_type: 'text', config: {} } as const;
const survey: Survey = {
  id: 71,
  name: 'How was it?',
  is_active: true,
  questions: [
    { ...question, id: 711, question: 'Why?' },
    { ...question, id: 712, question: 'Who?', is_active: false },
  ],
  unreadable: [{ id: 713, mismatches: ['questions.2.answer_type'] }],
};
const feedback = {
  surveys: async function* () {
    yield { id: 71, name: 'How was it?', is_active: true };
  },
  survey: async () => survey,
};

const rows: [id: string, level: string | undefined, problem: RegExp][] = [
  ['711', undefined, /^$/],
  ['712', 'warning', /question 712 \("Who\?"\), or its survey, is not active/],
  ['713', 'warning', /question 713 is of another shape than specified/],
  ['714', 'error', /no survey of the service has a question 714/],
];
test.each(rows)('of a written answer to question %s, the finding is %s', async (id, level, problem) => {
  const [found, ...more] = await surveyFindings({ source: { surveyQuestions: [id] }, feedback });
  expect([found?.level, more]).toEqual([level, []]);
  expect(found?.problem ?? '').toMatch(problem);
});
