import { expect, test } from 'vitest';
import { FeedbackError } from '../../../../core/feedback/failure.ts';
import type { Question } from '../../../../core/feedback/schemas.ts';
import { inWords, SurveyAnswers } from '../../../../worker/support/survey-answers.ts';

const about = { instructions: '', required: false, is_active: true };
const labels = { true_label: 'Yes, all', false_label: '' };
const questions: Question[] = [
  {
    ...about,
    id: 712,
    question: 'What did you buy?',
    answer_type: 'choice',
    config: { choices: [], show_other: true },
  },
  { ...about, id: 711, question: 'How likely?', answer_type: 'number', config: {} },
  { ...about, id: 718, question: 'Did you find everything?', answer_type: 'bool', config: labels },
  { ...about, id: 719, question: 'Never answered?', answer_type: 'text', config: {} },
];
const known = new Map(questions.map((question) => [String(question.id), { question, isAsked: true }]));
const survey = { at: new Date(0), answers: { 711: 9, 712: ['Hat', 'Coat'], 718: true, 999: false } };

test("answers come with their questions' texts in the customer's order, and those without one last", () => {
  expect(inWords(survey.answers, known)).toEqual([
    { id: '712', question: 'What did you buy?', answer: 'Hat, Coat' },
    { id: '711', question: 'How likely?', answer: '9' },
    { id: '718', question: 'Did you find everything?', answer: 'Yes, all' },
    { id: '999', question: undefined, answer: 'false' },
  ]);
  const inherited = new Map([['constructor', { question: questions[0] ?? expect.fail('none'), isAsked: true }]]);
  expect(inWords({}, inherited)).toEqual([]);
  expect(inWords({ 718: false }, known)).toMatchObject([{ answer: 'false' }]);
});

test('the service is asked once in five minutes, and a while later where it did not answer', async () => {
  let [now, calls, isDown] = [0, 0, true];
  const feedback = {
    surveys: async function* () {
      calls++;
      if (isDown) throw new FeedbackError('away', { kind: 'transient' });
      yield { id: 71, name: 'How was it?', is_active: true };
    },
    survey: async (id: number) => ({ id, name: 'How was it?', is_active: true, questions, unreadable: [] }),
  };
  const surveys = new SurveyAnswers(() => new Date(now));
  const first = async () => (await surveys.answersOf({ survey }, feedback))[0];
  expect(await surveys.answersOf({}, feedback)).toEqual([]);
  expect([await first(), await first(), calls]).toMatchObject([{ id: '711', question: undefined }, {}, 1]);
  [now, isDown] = [30_001, false];
  expect([await first(), await first(), calls]).toMatchObject([{ question: 'What did you buy?' }, {}, 2]);
  now += 300_001;
  expect([await first(), calls]).toMatchObject([{ id: '712' }, 3]);
});
