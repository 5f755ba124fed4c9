import { expect, test } from 'vitest';
import { truth } from '../../../../../core/mapping/expression.ts';
import { compileExpression } from '../../../../../core/mapping/expression-compile.ts';
import type { Journey } from '../../../../../worker/journey/journey.ts';
import { answerShape, loadAnswerRule, readsRecord } from '../../../../../worker/pipeline/policy/answer-rules.ts';
import { journeyIn } from '../../../../support/worker/journey/example.ts';

test('a rule is loaded with its expressions: the condition, and the text of a note', async () => {
  const rule = { name: 'unhappy', settle: 0, do: [] };
  const steps = [
    { name: 'note', params: 'answer.comment' },
    { name: 'note', params: { text: 'x' } },
    { name: 'tag', params: 'unhappy' },
  ];
  const loaded = loadAnswerRule({ ...rule, when: 'answer.grade < 3', do: steps });
  const read = { answer: { grade: 2, comment: 'Slow' } };
  expect([await loaded.when?.evaluate(read), await loaded.do[0]?.text?.evaluate(read)]).toEqual([true, 'Slow']);
  expect(loaded.do).toEqual([{ ...steps[0], text: expect.anything() }, steps[1], steps[2]]);
  expect(loadAnswerRule(rule)).toEqual({ ...rule, when: undefined });
});

const answer = { grade: 2, comment: 'Slow', seenAt: new Date('2026-05-04T10:00:00Z'), version: 1 };
const shape = { grade: 2, comment: 'Slow', campaign: 'campaign 12', answers: {}, changed: false };
const survey = { at: answer.seenAt, answers: { 17: 'three calls' } };
const rows: [what: string, journey: Partial<Journey>, expected: object | undefined][] = [
  ['nothing without an answer', { campaign: 12 }, undefined],
  ['the answer, and the campaign by its id', { campaign: 12, answer }, shape],
  [
    'what is known of the campaign and a survey',
    { campaign: 12, campaignName: 'Repairs', maxGrade: 5, answer, survey },
    { ...shape, campaign: 'Repairs', maxGrade: 5, answers: survey.answers },
  ],
  ['that it was changed', { campaign: 12, answer: { ...answer, version: 2 } }, { ...shape, changed: true }],
];
test.each(rows)('expressions see %s', (_, journey, expected) => {
  expect(answerShape(journeyIn('answered', journey))).toEqual(expected);
});

test.each([
  ['answer.grade <= 2', false],
  ['"Graded " & answer.grade & ": " & $trim(answer.comment)', false],
  ['$map(answer.answers.q1, function($one) { $one.x })', false],
  ['ticket.store = "Narva"', true],
  ['answer.grade <= 2 and ticket.vip', true],
  ['$$.ticket.store = "Narva"', true],
  ['$.ticket.store = "Narva"', true],
  ['*.store = "Narva"', true],
  ['"Narva" in **.store', true],
  ['$string() = "x"', true],
  ['$each(function($v, $k) { $k })', true],
  ['$exists(answer.grade.%.%.ticket)', true],
])('the expression %s reads the record: %s', (source, reads) => {
  expect(readsRecord(compileExpression(source))).toBe(reads);
});

const unhappy = loadAnswerRule({
  name: 'unhappy',
  when: 'answer.grade <= 2',
  settle: 0,
  do: [{ name: 'note', params: '"Graded " & answer.grade & ": " & answer.comment' }],
});

test.each([
  ['a bad grade with words', { grade: 1, comment: 'late' }, true, 'Graded 1: late'],
  ['a bad grade without words', { grade: 2, comment: null }, true, 'Graded 2: '],
  ['a good grade', { grade: 5, comment: null }, false, 'Graded 5: '],
  // A survey, or words that came before the grade.
  ['words alone', { grade: null, comment: 'late' }, false, 'Graded : late'],
])('%s is judged, and told in a note, without a word like null', async (_, given, matches, text) => {
  const answer = answerShape({ ...journeyIn('answered'), answer: { ...given, seenAt: new Date(0), version: 1 } });
  expect(truth(await unhappy.when?.evaluate({ answer })) === true).toBe(matches);
  expect(await unhappy.do[0]?.text?.evaluate({ answer })).toBe(text);
});
