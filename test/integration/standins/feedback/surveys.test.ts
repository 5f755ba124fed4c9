import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { envelope, service } from '../../../support/standins/feedback/service.ts';

/** Config keys by answer type: the table of specification 2; for range, number, date, time and bool the names it gives. */
const configKeys: Record<string, string[]> = {
  metric: [
    'end',
    'label_end',
    'label_mid',
    'label_start',
    'metric',
    'nps_detractors',
    'nps_promoters',
    'start',
    'step',
  ],
  choice: ['choices', 'limit', 'limit_exact', 'limit_max', 'limit_min', 'show_other'],
  text: ['max_length', 'widget'],
  range: ['end', 'labels', 'start'],
  number: ['max', 'min'],
  date: ['max', 'min'],
  time: ['max', 'min'],
  bool: ['false_label', 'true_label'],
};

const detail = z.strictObject({
  id: z.number(),
  name: z.string(),
  is_active: z.boolean(),
  questions: z.array(
    z.strictObject({
      id: z.number(),
      question: z.string(),
      answer_type: z.string(),
      instructions: z.string(),
      required: z.boolean(),
      is_active: z.boolean(),
      config: z.record(z.string(), z.unknown()),
    }),
  ),
});

describe('surveys', () => {
  const seeded = async () => {
    const s = await service({ seed: true });
    return { ...s, get: (path: string) => s.call('GET', path, undefined, { authorization: 'Token demo-key' }) };
  };

  test('GET /surveys/ lists id, name and is_active', async () => {
    const { get } = await seeded();
    expect((await get('/surveys/')).body).toEqual({
      count: 2,
      next: null,
      previous: null,
      results: [
        { id: 71, name: 'How was it?', is_active: true },
        { id: 72, name: 'Not shown yet', is_active: false },
      ],
    });
  });

  test('GET /surveys/:id shows a question of every answer type, in order, with the config of its type', async () => {
    const { get } = await seeded();
    const survey = detail.parse((await get('/surveys/71')).body);
    const shown = survey.questions.map(({ answer_type, config }) => [answer_type, Object.keys(config).sort()]);
    expect(Object.fromEntries(shown)).toEqual(configKeys);
    expect(survey.questions.map(({ id }) => id)).toEqual([711, 712, 713, 714, 715, 716, 717, 718]);
    expect(survey.questions.map(({ required }) => required).slice(0, 2)).toEqual([true, false]);
    expect(survey.questions.map(({ is_active }) => is_active).slice(-2)).toEqual([true, false]);
    expect(survey.questions.map(({ instructions }) => instructions).slice(1, 3)).toEqual(['', 'In your own words.']);
  });

  test.for(['/surveys/99', '/surveys/71'])('%s is 404 when it is not in the account', async (path) => {
    const s = await service({ seed: true });
    expect(await s.call('GET', path)).toMatchObject({ status: 404, body: { detail: 'Not found.' } });
  });

  test('pages like any list', async () => {
    const s = await service();
    for (let id = 1; id <= 1001; id += 1) s.standin.addSurvey({ account: 'a', id, name: `S${id}` });
    const page = envelope.parse((await s.call('GET', '/surveys/?page=2')).body);
    expect(page).toEqual({
      count: 1001,
      next: null,
      previous: `${s.url}/api/surveys/?page=1`,
      results: [{ id: 1001, name: 'S1001', is_active: true }],
    });
  });
});
