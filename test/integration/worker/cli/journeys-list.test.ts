import { describe, expect, test } from 'vitest';
import { maskContact } from '../../../../worker/cli/contact.ts';
import { listJourneys, showJourney } from '../../../../worker/cli/journeys.ts';
import { preview } from '../../../../worker/cli/preview.ts';
import { startLoop } from '../../../support/loop.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test("journeys show tells what a customer answered, with the questions' texts, only where that is wanted", async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { requestId } = await loop.asked('q');
  const answers = { 713: 'Better hats', 999: 3 };
  await loop.post(
    JSON.stringify({ plain: [{ kind: 'survey', key: 's', what: 'survey', at: new Date(), requestId, answers }] }),
  );
  await loop.journey('q.1', 'written');
  const about = { ...beside(loop), journey: `${loop.store.source}/q.1` };
  const plain = await printed(() => showJourney({ ...about, answers: false }));
  expect(plain.out).not.toContain('hats');
  const { rows } = await printed(() => showJourney({ ...about, answers: true }));
  expect(rows).toMatchObject([
    {
      survey: [
        { id: '713', question: 'What should we do better?', answer: 'Better hats' },
        { id: '999', answer: '3' },
      ],
    },
  ]);
  const words = await printed(() => showJourney({ ...about, answers: true, json: false }));
  expect(words.out).toContain('What should we do better?\n  Better hats\nQuestion 999\n  3\n');
});

describe('journeys list', () => {
  test('it filters by state, contact, record, reason and time, and shows nothing personal', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    for (const id of ['a', 'b']) await loop.post(loop.vendor.close(id).delivery);
    await loop.post(loop.vendor.close('c', { customer: {} }).delivery);
    await loop.journey('a.1', 'asked');
    await loop.journey('b.1', 'asked');
    await loop.journey('c.1', 'skipped');
    const { source } = loop.store;
    const list = async (filter: object) => {
      const { rows, out } = await printed(() => listJourneys({ ...beside(loop), limit: 50, ...filter }));
      expect(out).not.toMatch(/@example/);
      return rows.map((row) => Object(row).journey).toSorted();
    };
    expect(await list({})).toEqual([`${source}/a.1`, `${source}/b.1`, `${source}/c.1`]);
    expect(await list({ state: 'skipped' })).toEqual([`${source}/c.1`]);
    expect(await list({ contact: 'B@example.com' })).toEqual([`${source}/b.1`]);
    expect(await list({ record: 'a' })).toEqual([`${source}/a.1`]);
    expect(await list({ record: `${source}/a` })).toEqual([`${source}/a.1`]);
    expect(await list({ record: 'a', contact: 'b@example.com' })).toEqual([]);
    expect(await list({ record: 'a', contact: 'a@example.com' })).toEqual([`${source}/a.1`]);
    expect(await list({ error: 'NO USABLE' })).toEqual([`${source}/c.1`]);
    expect(await list({ since: '2099-01-01' })).toEqual([]);
    expect(await list({ limit: 1 })).toHaveLength(1);
    const again = { recordId: 'a', closing: 'again', closedAt: new Date(), eventKey: 'again', receivedAt: new Date() };
    await loop.store.getOrCreate(again, []);
    expect(await list({ record: 'a', limit: 1 })).toEqual([`${source}/a.2`]);
    await expect(list({ source: 'nobody' })).rejects.toThrow(/no source "nobody"/);
    await expect(list({ since: 'soon' })).rejects.toThrow(/--since must be a day/);
    const shown = await printed(() => showJourney({ ...beside(loop), journey: `${source}/a.1` }));
    expect(shown.rows).toMatchObject([{ state: 'asked', contact: 'email' }]);
    expect(shown.out).not.toMatch(/@example/);
    await expect(showJourney({ ...beside(loop), journey: `${source}/zz.1` })).rejects.toThrow(/no journey/);
  });
});

test('a journey is found by every address of its customer, also one about which nobody was asked, until they are erased', async () => {
  const rule =
    '{ name: some, when: ticket.store = "Tallinn", campaign: 12, contact: [customer.email, customer.phone] }';
  const loop = await startLoop(redis, { source: fresh(), rule });
  const { source } = loop.store;
  const customer = { email: 'both@example.com', phone: '+372 5551 2345' };
  await loop.post(loop.vendor.close('a', { customer }).delivery);
  await loop.post(loop.vendor.close('b', { customer, store: 'Riga' }).delivery);
  await loop.journey('a.1', 'asked');
  await loop.journey('b.1', 'skipped');
  const list = async (contact: string) => {
    const { rows } = await printed(() => listJourneys({ ...beside(loop), limit: 50, contact }));
    return rows.map((row) => Object(row).journey).toSorted();
  };
  for (const contact of [customer.email, customer.phone, '0037255512345']) {
    expect([contact, await list(contact)]).toEqual([contact, [`${source}/a.1`, `${source}/b.1`]]);
  }
  expect(await list('other@example.com')).toEqual([]);
  await printed(() => maskContact({ ...beside(loop), contact: customer.email, yes: true }));
  for (const contact of [customer.email, customer.phone]) expect([contact, await list(contact)]).toEqual([contact, []]);
});

test('people are shown times on the clock of the account, machines UTC', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.asked('a');
  const journey = `${loop.store.source}/a.1`;
  const words = { ...beside(loop), json: false };
  const shown = [
    await printed(() => listJourneys({ ...words, limit: 5 })),
    await printed(() => showJourney({ ...words, journey })),
    await printed(() => preview({ ...words, source: loop.store.source, record: 'a', showRecord: false })),
  ];
  for (const { out } of shown) {
    expect(out).toMatch(/\d\d:\d\d:\d\d\+0[23]:00/);
    expect(out).not.toMatch(/\d\d:\d\d[\d:.]*Z/);
  }
  const { out } = await printed(() => listJourneys({ ...beside(loop), limit: 5 }));
  expect(JSON.parse(out)).toMatchObject({ updatedAt: expect.stringMatching(/Z$/) });
});
