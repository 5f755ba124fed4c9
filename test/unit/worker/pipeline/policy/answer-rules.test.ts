import { expect, test } from 'vitest';
import { truth } from '../../../../../core/mapping/expression-truth.ts';
import { answerShape, loadAnswerRule } from '../../../../../worker/pipeline/policy/answer-rules.ts';
import { journeyIn } from '../../../../support/worker/journey/example.ts';

const rule = loadAnswerRule({
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
  expect(truth(await rule.when?.evaluate({ answer })) === true).toBe(matches);
  expect(await rule.do[0]?.text?.evaluate({ answer })).toBe(text);
});
