import { describe, expect, test } from 'vitest';
import { explain } from '../../../../../worker/support/explain.ts';
import { startLoop, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';
import { scrape } from '../../../../support/worker/operations/scrape.ts';

const redis = useRedis();
const event = (fields: object) => JSON.stringify({ plain: [{ at: new Date(), ...fields }] });

describe('no answer', () => {
  test('it is written once when the journey expires, where the source wants it, and an answer still replaces it', async () => {
    const vendor = new ToyVendor();
    vendor.writesNoAnswer = true;
    const loop = await startLoop(redis, { source: 'silent', vendor, general: 'expireAfter: 1s' });
    await loop.post(vendor.close('s1').delivery);
    await loop.journey('s1.1', 'expired');
    await until(() => vendor.written.length > 0);
    expect(vendor.written).toMatchObject([{ recordId: 's1', status: 'no-answer', grade: null, comment: null }]);
    loop.feedback.standin.answer({ contact: 's1@example.com', grade: 3 });
    await loop.journey('s1.1', 'written');
    expect(vendor.written.slice(1)).toMatchObject([{ recordId: 's1', status: 'answered', grade: 3 }]);
    await loop.close();
  });

  test('it is left alone where nobody wants it', async () => {
    const loop = await startLoop(redis, { source: 'silent-2', general: 'expireAfter: 1s' });
    await loop.post(loop.vendor.close('s2').delivery);
    await loop.journey('s2.1', 'expired');
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(loop.vendor.written).toEqual([]);
    await loop.close();
  });
});

describe('answers to a survey', () => {
  test('they are written back with the grade, by question, and the newest wins', async () => {
    const loop = await startLoop(redis, { source: 'survey', others: ['surveys'] });
    await loop.post(loop.vendor.close('v1').delivery);
    const { requestId } = await loop.journey('v1.1', 'asked');
    loop.feedback.standin.answer({ contact: 'v1@example.com', grade: 4 });
    await loop.journey('v1.1', 'written');
    const survey = (at: number, answers: object) =>
      loop.post(event({ kind: 'survey', at: new Date(at), requestId, answers }), {}, 'surveys');
    const now = Date.now();
    await survey(now, { q1: 'yes', q2: 7 });
    await until(() => loop.vendor.written.length === 2);
    expect(loop.vendor.written[1]).toMatchObject({ recordId: 'v1', grade: 4, answers: { q1: 'yes', q2: 7 } });
    await loop.journey('v1.1', 'written');
    await survey(now - 1_000, { q1: 'no' });
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(await loop.store.get('v1.1')).toMatchObject({ state: 'written', survey: { answers: { q1: 'yes' } } });
    const messages = loop.told.map(({ message }) => message).filter((text) => /survey/.test(text));
    expect(messages).toEqual(['survey answered', expect.stringMatching(/left out: newer ones are there/)]);
    await loop.close();
  });
});

describe('a grade that was given elsewhere', () => {
  const rule = '{ name: all, campaign: 15, contact: ticket.id }';

  test('it creates the request of an external campaign, grades it once, and corrects it', async () => {
    const loop = await startLoop(redis, { source: 'elsewhere', rule });
    loop.vendor.close('x1');
    const graded = (at: number, grade: number, comment: string | null) =>
      event({ kind: 'external-grade', recordId: 'x1', at: new Date(at), grade, comment });
    const now = Date.now();
    await loop.post(graded(now, 5, 'Thanks'));
    const request = await until(() => loop.feedback.standin.requests().find(({ grade }) => grade === 5));
    expect(request).toMatchObject({ campaign: 15, identifier: 'x1' });
    await until(async () => (await loop.store.get('x1.1'))?.given?.delivered);
    await loop.post(graded(now + 1_000, 2, 'No thanks'));
    await until(() => loop.feedback.standin.requests().some(({ grade }) => grade === 2));
    await loop.post(graded(now - 1_000, 1, 'an old one, late'));
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(loop.feedback.standin.requests()).toMatchObject([{ grade: 2, comment: 'No thanks' }]);
    await loop.close();
  });

  test('it asked nobody, and is on no record that has no place for it, as why says and the metrics count', async () => {
    const loop = await startLoop(redis, { source: 'elsewhere-9', rule, general: 'admin: { port: 0 }' });
    loop.vendor.results.push({ ok: true, findings: [], unwritten: 'the source has no writeBack' });
    loop.vendor.close('x9');
    await loop.post(event({ kind: 'external-grade', recordId: 'x9', grade: 5, comment: null }));
    const journey = await loop.journey('x9.1', 'written');
    expect(explain(journey)).toMatchObject({
      isAsked: false,
      what: expect.stringMatching(/^graded elsewhere at .*; not on the record: the source has no writeBack$/),
    });
    expect((await loop.store.trace(journey)).at(-1)?.text).toBe('not written: the source has no writeBack');
    const { of } = await scrape(loop.app.adminUrl);
    const results = ['written', 'not-written'].map((result) =>
      of(`closeloop_write_backs_total{source="elsewhere-9",result="${result}"}`),
    );
    expect(results).toEqual([0, 1]);
  });

  test('it says which grades the campaign takes where it takes another, and passes the comment on', async () => {
    const loop = await startLoop(redis, { source: 'elsewhere-3', rule });
    loop.vendor.close('x3');
    await loop.post(event({ kind: 'external-grade', recordId: 'x3', grade: 99, comment: 'Thanks' }));
    const { fields } = await until(() => loop.told.find(({ message }) => message === 'given up'));
    expect(fields.why).toMatch(/refuses the grade 99 .*campaign 15 takes only 1, .*correct what finds the grade/);
    expect(loop.feedback.standin.requests()).toMatchObject([{ grade: null, comment: 'Thanks' }]);
    await until(async () => /refuses the grade 99/.test((await loop.store.trace('x3.1')).at(-1)?.text ?? ''));
    await loop.close();
  });

  test('it is not passed on for a record that asks nobody', async () => {
    const loop = await startLoop(redis, { source: 'elsewhere-2', rule });
    loop.vendor.close('x2', { state: { is: 'open' } });
    await loop.post(event({ kind: 'external-grade', recordId: 'x2', grade: 5, comment: null }));
    await until(() => loop.told.some(({ message }) => message.includes('asks nobody')));
    expect(loop.feedback.standin.requests()).toEqual([]);
    await loop.close();
  });
});
