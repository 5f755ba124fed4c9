import { describe, expect, test } from 'vitest';
import { surveyValue } from '../../../../connectors/zendesk/fields.ts';
import type { AnswerValue } from '../../../../core/connector/contract.ts';
import { account, answer, written } from '../../../support/connectors/zendesk/account.ts';
import * as live from '../../../support/connectors/zendesk/preflight.ts';

const options = [
  { name: 'Very good', value: 'very_good' },
  { name: 'Poor', value: 'poor' },
];
const rows: [type: string, answer: AnswerValue, value: unknown][] = [
  ['text', 'two\nlines', 'two lines'],
  ['text', ['a', 'b'], 'a, b'],
  ['text', 0, '0'],
  ['textarea', 'two\nlines', 'two\nlines'],
  ['textarea', true, 'true'],
  ['integer', 7, 7],
  ['integer', ' -7 ', -7],
  ['integer', 7.5, undefined],
  ['integer', 'seven', undefined],
  ['integer', ['7', '8'], undefined],
  ['decimal', '7.5', 7.5],
  ['date', '2026-11-21', '2026-11-21'],
  ['date', '2026-11-21T10:00:00Z', '2026-11-21'],
  ['date', 'tomorrow', undefined],
  ['checkbox', true, true],
  ['checkbox', 'No', false],
  ['checkbox', 'perhaps', undefined],
  ['tagger', 'very good', 'very_good'],
  ['tagger', 'POOR', 'poor'],
  ['tagger', 'other', 'other'],
  ['tagger', ['poor'], 'poor'],
  ['multiselect', ['Poor', 'Very good'], ['poor', 'very_good']],
];

describe('an answer to a survey', () => {
  test.each(rows)('it is what a field of type %s takes: %j as %j', (type, given, value) => {
    expect(surveyValue(given, { type, custom_field_options: options })).toEqual(value);
  });

  test('it lands in the field of its question, beside the grade, and again when it changes', async () => {
    const { standin, source, solved } = await account({
      grade: 'Grade',
      answers: { 17: 'Why', q2: 360004, 19: 'Days' },
    });
    const why = standin.addTicketField({ title: 'Why', type: 'textarea' }).id;
    const days = standin.addTicketField({ title: 'Days', type: 'integer' }).id;
    const id = solved();
    const answers = { 17: 'It was late', q2: 'Nine', 18: 'not mapped' };
    expect(await source.writeBack([answer(id, { answers })])).toEqual([written]);
    expect(standin.ticket(id).fields).toMatchObject({ [why]: 'It was late', 360004: 'nine', 360001: 9 });
    expect(await source.writeBack([answer(id, { answers: { 19: 3 }, marker: 'two' })])).toEqual([written]);
    expect(standin.ticket(id).fields).toMatchObject({ [why]: 'It was late', [days]: 3 });
  });

  test('what its field cannot hold is left out and told, and the grade is written all the same', async () => {
    const { standin, source, solved } = await account({ grade: 'Grade', answers: { 17: 'Days', 18: 360004 } });
    standin.addTicketField({ id: 360009, title: 'Days', type: 'integer' });
    const id = solved();
    const [result] = await source.writeBack([answer(id, { answers: { 17: 'three', 18: 'no such option' } })]);
    expect(standin.ticket(id).fields).toMatchObject({ 360001: 9 });
    expect(result).toMatchObject({
      ok: true,
      findings: [
        expect.stringMatching(/into the ticket field 360009 "Days" \(writeBack\.answers\.17\) of type integer/),
        expect.stringMatching(/360004 "Score" \(writeBack\.answers\.18\) has no option for this answer/),
      ],
    });
    expect(JSON.stringify(result)).not.toContain('three');
  });
});

describe('the fields of questions', () => {
  test('setup makes those that are named by a title, and check knows them', async () => {
    const desk = await live.openAccount();
    desk.standin.setWebhook({ url: live.hookUrl, secrets: [live.secret] });
    const open = () => desk.open({ writeBack: { grade: live.ids.grade, answers: { 17: 'Why', 18: 999_999 } } });
    const problems = async () => (await open().check?.(live.about))?.map(({ at, problem }) => `${at}: ${problem}`);
    expect(await problems()).toEqual([
      expect.stringMatching(/^writeBack\.answers\.17: ticket field "Why" does not exist/),
      expect.stringMatching(/^writeBack\.answers\.18: ticket field 999999 does not exist/),
    ]);
    const steps = (await open().setup?.(live.about)) ?? [];
    expect(steps.map(({ what }) => what)).toEqual(['create the ticket field "Why" (textarea)']);
    for (const step of steps) await step.apply();
    expect(await problems()).toEqual([expect.stringMatching(/^writeBack\.answers\.18/)]);
    await desk.close();
  });

  test('check tells of one that is used twice, or can hold no answer', async () => {
    const desk = await live.openAccount();
    desk.standin.setWebhook({ url: live.hookUrl, secrets: [live.secret] });
    const id = desk.standin.addTicketField({ title: 'Card', type: 'partialcreditcard' }).id;
    const source = desk.open({ writeBack: { grade: live.ids.grade, answers: { 17: id, 18: live.ids.grade } } });
    expect(await source.check?.(live.about)).toMatchObject([
      { at: 'writeBack.answers.17', problem: expect.stringMatching(/has the type partialcreditcard/) },
      { at: 'writeBack.answers.18', problem: expect.stringMatching(/is also writeBack\.grade/) },
    ]);
    await desk.close();
  });
});
