import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allOn, answer, openShop } from '../../../support/connectors/shopify/fixture.ts';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  shop = await openShop({ writeBack: allOn });
});
afterEach(() => shop.close());

const written = { ok: true, findings: [] };
const line = '[feedback 4/5 (Delivery, 2026-11-20): "Fine" · closeloop j7.1]';

test('it puts every part of an answer where it was configured', async () => {
  const id = shop.order({ tags: ['vip'], note: 'Ring twice' });
  expect(await shop.source.writeBack([answer(id, { answers: { q1: ['fast', 'cheap'], q2: 'x' } })])).toEqual([written]);
  expect(shop.standin.order(id)).toMatchObject({
    tags: ['vip', 'fb_answered', 'fb_grade_4'],
    note: `Ring twice\n${line}`,
    metafields: {
      '$app.feedback_grade': '4',
      '$app.feedback_comment': 'Fine',
      '$app.feedback_at': '2026-11-20T10:00:00+00:00',
      '$app.feedback_status': 'answered',
      '$app.feedback_speed': 'fast, cheap',
    },
  });
});

test('it replaces an earlier answer whole: grade, tag, line of the note, and a comment that is gone', async () => {
  const id = shop.order({ tags: ['vip'], note: 'Ring twice' });
  await shop.source.writeBack([answer(id)]);
  const later = { grade: 2, comment: null, marker: 'j7.2', answeredAt: new Date('2026-11-21T10:00:00Z') };
  expect(await shop.source.writeBack([answer(id, later)])).toEqual([written]);
  const { tags, note, metafields } = shop.standin.order(id);
  expect(tags).toEqual(['vip', 'fb_answered', 'fb_grade_2']);
  expect(note).toBe('Ring twice\n[feedback 2/5 (Delivery, 2026-11-21) · closeloop j7.2]');
  expect(metafields).toMatchObject({ '$app.feedback_grade': '2' });
  expect(metafields).not.toHaveProperty('$app.feedback_comment');
});

test('it takes off the tag of a grade between two whole ones, at a regrade and at an erasure', async () => {
  const id = shop.order({ tags: ['vip'] });
  const { source } = shop.open({ writeBack: { tags: true } });
  await source.writeBack([answer(id, { grade: 2.5 })]);
  expect(shop.standin.order(id).tags).toEqual(['vip', 'fb_answered', 'fb_grade_2.5']);
  await source.writeBack([answer(id, { grade: 4.5, marker: 'j7.2' })]);
  expect(shop.standin.order(id).tags).toEqual(['vip', 'fb_answered', 'fb_grade_4.5']);
  expect(await source.forget?.([id])).toEqual([]);
  expect(shop.standin.order(id).tags).toEqual(['vip']);
});

describe('a grade between two whole ones', () => {
  const ofGrade = async (id: string, grade: number, marker: string) =>
    await shop.source.writeBack([
      answer(id, { grade, marker, answeredAt: new Date(Date.parse('2026-11-20T10:00:00Z') + grade) }),
    ]);

  test.each([
    ['that the shop has defined', true],
    ['without a definition', false],
  ])('it fits into a metafield for decimals %s, as whole ones do', async (_, isDefined) => {
    shop.standin.definitions().splice(0);
    if (isDefined) shop.standin.addDefinition({ key: 'feedback_grade', type: 'number_decimal' });
    const id = shop.order();
    for (const grade of [2.5, 4]) {
      expect(await ofGrade(id, grade, `j7.${grade}`)).toEqual([written]);
      expect(Number(shop.standin.order(id).metafields['$app.feedback_grade'])).toBe(grade);
    }
  });

  test('it does not fit into one for whole numbers: the grade alone is left out, and told by its name', async () => {
    shop.standin.addDefinition({ key: 'feedback_grade', type: 'number_integer' });
    const id = shop.order();
    const finding =
      'Shopify did not keep "feedback_grade": a metafield of whole numbers takes no 2.5: choose another key (writeBack.grade), and let "closeloop setup" define it';
    for (let times = 0; times < 2; times++)
      expect(await ofGrade(id, 2.5, 'j7.1')).toEqual([{ ok: true, findings: [finding] }]);
    expect(shop.standin.order(id).metafields).toMatchObject({ '$app.feedback_comment': 'Fine' });
    expect(shop.standin.order(id).metafields).not.toHaveProperty('$app.feedback_grade');
  });
});

test('a call that is carried out after a newer answer was written changes no metafield', async () => {
  const id = shop.order();
  let late = async (): Promise<unknown> => undefined;
  const { source } = shop.open(
    { writeBack: { grade: 'feedback_grade', comment: 'feedback_comment' } },
    {
      fetch: async (input, init) => {
        if (!String(init?.body).includes('WriteAnswers')) return await fetch(input, init);
        const { signal: _, ...sent } = { ...init };
        late = () => fetch(input, sent);
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
      },
    },
  );
  await expect(source.writeBack([answer(id, { grade: 1, comment: 'Late' })])).rejects.toMatchObject({
    outcome: 'unknown',
  });
  await shop.source.writeBack([answer(id, { marker: 'j7.2' })]);
  const before = shop.standin.order(id).metafields;
  await late();
  expect(shop.standin.order(id).metafields).toEqual(before);
});

test('a metafield that somebody changes at the same time is a conflict, tried again', async () => {
  const id = shop.order();
  await shop.source.writeBack([answer(id)]);
  const { source } = shop.open(
    {},
    {
      fetch: async (input, init) => {
        if (String(init?.body).includes('WriteAnswers'))
          await shop.source.writeBack([answer(id, { grade: 5, marker: 'x' })]);
        return await fetch(input, init);
      },
    },
  );
  const [result] = await source.writeBack([answer(id, { grade: 2, marker: 'y' })]);
  expect(result).toMatchObject({ ok: false, error: { advice: { kind: 'transient' }, outcome: 'refused' } });
});

describe('no answer', () => {
  const none = (id: string) => answer(id, { status: 'no-answer', grade: null, comment: null, marker: 'j7.0' });

  test('it is told in status and tags, and gives way to an answer', async () => {
    const id = shop.order();
    expect(await shop.source.writeBack([none(id)])).toEqual([written]);
    expect(shop.standin.order(id)).toMatchObject({
      tags: ['fb_no_answer'],
      note: null,
      metafields: { '$app.feedback_status': 'no answer' },
    });
    await shop.source.writeBack([answer(id)]);
    expect(shop.standin.order(id)).toMatchObject({
      tags: ['fb_answered', 'fb_grade_4'],
      metafields: { '$app.feedback_status': 'answered' },
    });
  });

  test('it never replaces an answer', async () => {
    const id = shop.order();
    await shop.source.writeBack([answer(id)]);
    await shop.source.writeBack([none(id)]);
    expect(shop.standin.order(id)).toMatchObject({ tags: ['fb_answered', 'fb_grade_4'] });
  });
});

test('it refuses one order alone, and says what to do', async () => {
  shop.standin.addDefinition({ key: 'feedback_grade', validations: [{ name: 'max', value: '4' }] });
  const [good, bad] = [shop.order(), shop.order()];
  const [one, two, three] = await shop.source.writeBack([answer(bad, { grade: 5 }), answer(good), answer('77')]);
  expect(one).toMatchObject({ ok: false, why: 'error', error: { advice: { kind: 'permanent' } } });
  expect(one?.ok === false && one.why === 'error' && one.error.message).toMatch(
    /metafieldsSet: INVALID_VALUE.*closeloop check/,
  );
  expect(two).toEqual(written);
  expect(three).toMatchObject({ ok: false, why: 'not-found' });
});

test('it tells a metafield of another type, or of somebody else, as a mistake in the configuration', async () => {
  shop.standin.addDefinition({ key: 'feedback_grade', type: 'single_line_text_field' });
  const [result] = await shop.source.writeBack([answer(shop.order())]);
  expect(result).toMatchObject({ error: { advice: { kind: 'config' } } });
});

test('it keeps the note within its 5,000 characters, and whole where there is no room', async () => {
  const [long, full] = [shop.order({ note: 'x'.repeat(4_800) }), shop.order({ note: 'x'.repeat(4_990) })];
  const items = [answer(long, { comment: '[a]\n'.repeat(500) }), answer(full)];
  expect(await shop.source.writeBack(items)).toEqual([written, written]);
  const note = shop.standin.order(long).note ?? '';
  expect(note.length).toBeLessThanOrEqual(5_000);
  expect(note).toMatch(
    /^x{4800}\n\[feedback 4\/5 \(Delivery, 2026-11-20\): "\(a\) [()a ]*… \(cut\)" · closeloop j7\.1\]$/,
  );
  expect(shop.standin.order(full).note).toBe('x'.repeat(4_990));
});

test('it stays within the cost of a call, whatever there is to do', async () => {
  shop.standin.changeSettings({ maximumAvailable: 100_000, restoreRate: 100_000 });
  const ids = Array.from({ length: 100 }, () => shop.order());
  const write = (more: object) => shop.source.writeBack(ids.map((id) => answer(id, { answers: { q1: 'a' }, ...more })));
  await write({});
  shop.standin.clearCalls();
  const results = await write({
    grade: 1,
    comment: null,
    marker: 'j8.1',
    answeredAt: new Date('2026-11-21T10:00:00Z'),
  });
  expect(results).toEqual(ids.map(() => written));
  // Five mutations each.
  expect(shop.standin.callCounts()).toEqual({ 'POST graphql AnswersOnOrders': 2, 'POST graphql WriteAnswers': 6 });
});
