import { expect, test } from 'vitest';
import type { AnswerMessage } from '../../../../worker/operations/alerts/message.ts';
import { slackBody } from '../../../../worker/operations/alerts/receivers.ts';
import { sectionsOf, titleOf } from '../../../../worker/operations/alerts/words.ts';

const message: AnswerMessage = {
  ...{ type: 'answer', id: 'evt', at: '2026-11-20T08:00:00.000Z', source: 'support', journey: 'support/p.1' },
  ...{ rule: 'unhappy', grade: '1 of 5', comment: 'late', isChanged: false, customer: undefined, agent: undefined },
  ...{ record: 'p', url: undefined, followUp: undefined, timeZone: 'UTC' },
};

test('no half of a character is left where a text is cut: a chat would refuse the whole message', () => {
  for (const length of [1_496, 1_497, 1_498, 1_499]) {
    const long = { ...message, comment: `${'a'.repeat(length)}😀😀😀`, customer: `${'b'.repeat(length - 1_420)}😀😀` };
    expect(titleOf(long).isWellFormed()).toBe(true);
    expect(sectionsOf(long, undefined).every(({ lines }) => lines.join().isWellFormed())).toBe(true);
    expect(JSON.stringify(slackBody(long))).not.toMatch(/\\ud[89a-f]/);
  }
});
