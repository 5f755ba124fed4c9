import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listErasures, maskContact, retryErasures, showStored } from '../../../../worker/cli/contact.ts';
import { status } from '../../../../worker/cli/status.ts';
import { why } from '../../../../worker/cli/why.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, dir, fresh, redis } = useCommands();

test('contact mask ends with 1 when nobody is known by the contact: it must not be taken for done', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.asked('a');
  const mask = async (contact: string) =>
    (await printed(() => maskContact({ ...beside(loop), contact, yes: true }))).code;
  expect([await mask('a@exmaple.com'), await mask('A@example.com')]).toEqual([1, 0]);
  const { rows, out } = await printed(() => status(beside(loop)));
  const erased = [
    { journeys: 0 },
    { journeys: 1, contacts: 1, requestsMasked: 1, writtenAnswers: 'none were written' },
  ];
  expect(rows[0]).toMatchObject({ erasures: 2, erased });
  expect(out).not.toMatch(/@ex/);
});

test('contact mask tells what was taken off records, and what the service and vendors keep (audit 7)', async () => {
  const vendor = Object.assign(new ToyVendor(), { keeps: ['the notes: nobody can delete them'] });
  const loop = await startLoop(redis, { source: fresh(), vendor });
  await loop.asked('a');
  loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4, comment: 'kind' });
  await loop.journey('a.1', 'written');
  const masking = await printed(() => maskContact({ ...beside(loop), contact: 'a@example.com', yes: true }));
  expect(vendor.forgotten).toEqual(['a']);
  const kept = [
    expect.stringMatching(/^the service: grades, comments and statistics/),
    `${loop.store.source}: the notes: nobody can delete them`,
    expect.stringMatching(/earlier settings/),
    expect.stringMatching(/retention\.journeys/),
  ];
  expect(masking).toMatchObject({ code: 0, rows: [{ journeys: 1, requestsMasked: 1, kept }] });
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows[0]).toMatchObject({ erased: [{ kept }] });
});

test('contact mask says of a contact that was masked before that it was, and not that nobody is known', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.asked('a');
  const mask = () => sayings(() => maskContact({ ...beside(loop), contact: 'a@example.com', yes: true }));
  expect(await mask()).toMatchObject({ code: 0, said: [] });
  expect(await mask()).toMatchObject({ code: 0, said: [expect.stringMatching(/^This contact was masked before/)] });
  const { rows } = await printed(() => status(beside(loop)));
  const before = { journeys: 0, requestsMasked: 0, maskedBefore: 1 };
  expect(rows[0]).toMatchObject({ erased: [{ requestsMasked: 1 }, before] });
});

test('contact mask keeps what the service refuses: it is shown by list and status, and done by retry (audit 3)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  await loop.asked('a');
  loop.feedback.standin.faults.add({ method: 'POST', path: '/mask$', times: 1_000, status: 200, body: { ok: true } });
  const options = beside(loop);
  const held = [expect.stringMatching(/contacts are not masked: .*another shape/)];
  expect(await printed(() => maskContact({ ...options, contact: 'a@example.com', yes: true }))).toMatchObject({
    code: 3,
    rows: [{ source: loop.store.source, held }],
  });
  const { rows: shown } = await printed(() => status(options));
  expect(shown[0]).toMatchObject({ erasures: 0, erasing: [{ held }] });
  const listed = await printed(() => listErasures({ ...options, subjects: false }));
  expect(listed).toMatchObject({ code: 0, rows: [{ contacts: 1, masked: 0, held }] });
  expect(listed.out).not.toContain('@');
  expect((await printed(() => listErasures({ ...options, subjects: true }))).out).toContain('a@example.com');
  expect((await printed(() => retryErasures(options))).code).toBe(3);
  loop.feedback.standin.faults.clear();
  expect((await printed(() => retryErasures({ ...options, erasure: 'none' }))).code).toBe(1);
  await printed(() => retryErasures(options));
  await until(async () => (await loop.store.get('a.1'))?.erasedAt);
  expect((await printed(() => retryErasures(options))).code).toBe(0);
  expect((await printed(() => listErasures({ ...options, subjects: false }))).rows).toEqual([]);
});

test('contact mask ends with 4 when something could not be read, and says what (audit trace)', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const { source } = loop.store;
  for (const id of ['a', 'b']) {
    await loop.asked(id, { customer: { email: 'a@example.com' } });
  }
  await redis.handle.client.set(`{cl:${source}}:journey:b.1`, '9 asked garbage');
  const masking = await sayings(() => maskContact({ ...beside(loop), contact: 'a@example.com', yes: true }));
  expect(masking.code).toBe(4);
  expect(masking.said.join('')).toContain(`may still hold their data: ${source}/b.1.`);
  const { rows } = await printed(() => status(beside(loop)));
  expect(rows[0]).toMatchObject({ erased: [{ journeys: 1, unreadable: [`${source}/b.1`] }] });
});

test('contact mask refuses a folder where closeloop never ran: nobody would be forgotten there', async () => {
  const loop = await startLoop(redis, { source: fresh() });
  const config = join(dir, 'elsewhere.yaml');
  writeFileSync(config, loop.text);
  const data = join(dir, 'elsewhere');
  const masking = maskContact({ ...beside(loop), config, data, contact: 'a@example.com', yes: true });
  await expect(masking).rejects.toThrow(/There is no data in/);
});

test('contact stored tells what is stored of a person, before and after they are erased', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store }, throttle: 30d }';
  const loop = await startLoop(redis, { source: fresh(), rule });
  await loop.asked('a', { customer: { email: 'a@example.com', phone: '+37255512345' } });
  const stored = (contact: string) => printed(() => showStored({ ...beside(loop), contact }));
  const journey = `${loop.store.source}/a.1`;
  const asked = { requests: [{ campaign: 12, journey }], throttles: [{ rule: 'all' }], erased: false };
  expect(await stored('A@example.com')).toMatchObject({
    code: 0,
    rows: [{ journeys: [{ journey, state: 'asked' }], values: { Store: ['Tallinn'] }, linkedAddresses: 0, ...asked }],
  });
  const words = await printed(() => showStored({ ...beside(loop), contact: 'a@example.com', json: false }));
  expect(words.out).toContain(`journeys         journey: ${journey}, state: asked\n`);
  expect(words.out).toMatch(/^values +Store: Tallinn$/m);
  expect(words.out).not.toMatch(/[[\]{}]/);
  expect(await stored('b@example.com')).toMatchObject({
    code: 1,
    rows: [{ journeys: [], requests: [], erased: false }],
  });
  await printed(() => maskContact({ ...beside(loop), contact: 'a@example.com', yes: true }));
  expect(await stored('a@example.com')).toMatchObject({
    code: 1,
    rows: [{ journeys: [], requests: [], throttles: [], linkedAddresses: 0, erased: true }],
  });
  const about = { ...beside(loop), about: 'A@example.com', json: false };
  for (const stored of [true, false])
    expect((await sayings(() => why({ ...about, stored }))).said.join('')).toContain('They were erased: ');
});
