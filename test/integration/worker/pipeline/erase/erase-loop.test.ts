import { expect, test } from 'vitest';
import { CloseloopError } from '../../../../../core/errors.ts';
import { type Loop, startLoop, until } from '../../../../support/loop.ts';
import { useRedis } from '../../../../support/redis.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

const redis = useRedis();
const erase = (who: object) => JSON.stringify({ plain: [{ kind: 'erase', at: new Date(), ...who }] });

/** Everything that Redis holds of this test's sources, as one text. */
async function everything(loop: Loop): Promise<string> {
  const { client } = redis.handle;
  const parts: string[] = [];
  for (const key of await client.keys(`{cl:${loop.store.source}*`)) {
    const type = await client.type(key);
    if (type === 'string') parts.push(`${key} ${await client.get(key)}`);
    if (type === 'hash') parts.push(`${key} ${JSON.stringify(await client.hgetall(key))}`);
    if (type === 'list') parts.push(`${key} ${(await client.lrange(key, 0, -1)).join(' ')}`);
    if (type === 'set') parts.push(`${key} ${(await client.smembers(key)).join(' ')}`);
  }
  // Short words may stand in sealed text by chance.
  return parts.join('\n').replace(/1\.[\w-]{30,}|[\w-]{43}/g, 'sealed');
}

const customer = { email: 'erika@example.com' };
const ways: [what: string, who: object][] = [
  ['the id of the person', { personIds: ['p-7'] }],
  ['the record', { recordIds: ['a'] }],
  ['the contact', { contacts: ['Erika@Example.com'] }],
];
test.each(ways)(
  'it forgets a person by %s: masked at the service, gone here, and never asked again',
  async (what, who) => {
    const source = `erase-${what.replaceAll(' ', '-')}`;
    const loop = await startLoop(redis, { source });
    const { delivery } = loop.vendor.close('a', { customer, personId: 'p-7' });
    expect((await loop.post(delivery)).status).toBe(202);
    await loop.journey('a.1', 'asked');
    loop.feedback.standin.answer({ contact: customer.email, grade: 4, comment: 'Frau Muster was kind' });
    await loop.journey('a.1', 'written');
    expect((await loop.store.get('a.1'))?.contact?.value).toBe('erika@example.com');
    expect(await everything(loop)).not.toMatch(/erika|Muster|p-7/i);

    expect((await loop.post(erase(who))).status).toBe(202);
    const gone = await until(async () => {
      const journey = await loop.store.get('a.1');
      return journey?.erasedAt && journey;
    });
    expect(gone).toMatchObject({ state: 'written', why: expect.stringMatching(/erased/) });
    await until(async () => (await loop.erasures.all())[0]);
    expect(await loop.erasures.all()).toMatchObject([
      { journeys: 1, contacts: 1, requestsMasked: 1, what: 'toy erase' },
    ]);
    expect(await everything(loop)).not.toMatch(/erika|Muster|p-7/i);
    expect(loop.feedback.standin.requests()[0]).not.toMatchObject({ email: customer.email });

    await loop.post(delivery.replace('"at"', '"key":"once more","at"'));
    await until(async () => (await loop.app.engine.busy()) === 0);
    expect(loop.feedback.standin.requests()).toHaveLength(1);
    await loop.close();
  },
);

test('it ends a journey that waits, in every source that knows the contact, and leaves others alone', async () => {
  const rule = '{ name: all, campaign: 12, contact: customer.email, delay: 1h }';
  const [one, two] = ['erase-one', 'erase-two'];
  const loop = await startLoop(redis, { source: one, rule, others: [two] });
  const { delivery } = loop.vendor.close('b', { customer, personId: 'p-8' });
  await loop.post(delivery);
  await loop.post(delivery, {}, two);
  await loop.post(loop.vendor.close('c').delivery);
  await loop.journey('b.1', 'waiting');
  await loop.journey('c.1', 'waiting');
  const elsewhere = loop.app.engine.pipelines.get(two)?.context.store;
  await until(async () => (await elsewhere?.get('b.1'))?.state === 'waiting');
  await loop.post(erase({ personIds: ['p-8'] }));
  await loop.journey('b.1', 'cancelled');
  await until(async () => (await elsewhere?.get('b.1'))?.state === 'cancelled');
  expect(await loop.store.get('c.1')).toMatchObject({ state: 'waiting', contact: { value: 'c@example.com' } });
  expect(loop.feedback.standin.requests()).toEqual([]);
  await loop.close();
});

test('it forgets everybody of a source when the vendor says so, and nobody of another', async () => {
  const loop = await startLoop(redis, { source: 'erase-all', others: ['erase-none'] });
  for (const id of ['d', 'e']) await loop.post(loop.vendor.close(id).delivery);
  await loop.post(loop.vendor.close('f').delivery, {}, 'erase-none');
  for (const id of ['d.1', 'e.1']) await loop.journey(id, 'asked');
  const other = loop.app.engine.pipelines.get('erase-none')?.context.store;
  await until(async () => (await other?.get('f.1'))?.state === 'asked');
  await loop.post(erase({ everybody: true }));
  await until(async () => (await loop.erasures.all())[0]);
  expect(await everything(loop)).not.toMatch(/[de]@example/);
  expect(await other?.get('f.1')).toMatchObject({ contact: { value: 'f@example.com' } });
  await loop.close();
});

test('it goes on where it was when masking fails in between', async () => {
  const loop = await startLoop(redis, { source: 'erase-again' });
  await loop.post(loop.vendor.close('g', { customer, personId: 'p-9' }).delivery);
  await loop.journey('g.1', 'asked');
  await fetch(`${loop.feedback.url}/_control/faults`, {
    method: 'POST',
    body: JSON.stringify({ method: 'POST', path: '/mask$', then: 'work-then-cut' }),
  });
  await loop.post(erase({ personIds: ['p-9'] }));
  await until(async () => (await loop.store.get('g.1'))?.erasedAt);
  expect(loop.feedback.standin.requests()[0]).not.toMatchObject({ email: customer.email });
  await loop.close();
});

test('it stops every stage of a source whose access was taken away, and says who has to act', async () => {
  const loop = await startLoop(redis, { source: 'revoked' });
  await loop.post(
    JSON.stringify({
      plain: [{ kind: 'revoked', at: new Date(), what: 'the app was uninstalled: an admin must install it again' }],
    }),
  );
  const paused = await until(async () => {
    const { revoked = [] } = await loop.app.engine.paused();
    return revoked.length === 4 && revoked;
  });
  expect(paused.map(({ stage }) => stage).toSorted()).toEqual(['act', 'ask', 'plan', 'write-back']);
  expect(paused[0]?.why).toMatch(/install it again/);
  expect((await loop.post(loop.vendor.close('h').delivery)).status).toBe(202);
  await loop.close();
});

/** A person whose grade was written is forgotten; what the proof then says of the copy on the record. */
async function writtenAnswersAfter(
  source: string,
  vendor: ToyVendor,
): Promise<{ writtenAnswers: string | undefined; loop: Loop }> {
  const loop = await startLoop(redis, { source, vendor });
  await loop.post(vendor.close('a', { customer, personId: 'p-7' }).delivery);
  await loop.post(vendor.close('b').delivery);
  await loop.journey('b.1', 'asked');
  await loop.journey('a.1', 'asked');
  loop.feedback.standin.answer({ contact: customer.email, grade: 4, comment: 'Frau Muster was kind' });
  await loop.journey('a.1', 'written');
  await loop.post(erase({ personIds: ['p-7'] }));
  const proof = await until(async () => {
    const [one] = await loop.erasures.all();
    return one?.writtenAnswers !== 'being taken off' && one;
  });
  expect(proof).toMatchObject({ journeys: 1, contacts: 1, requestsMasked: 1 });
  expect((await loop.store.get('a.1'))?.erasedAt).toBeInstanceOf(Date);
  return { writtenAnswers: proof.writtenAnswers, loop };
}

test('it takes off the record what was written there, and nothing of others', async () => {
  const vendor = new ToyVendor();
  const { writtenAnswers, loop } = await writtenAnswersAfter('erase-copies', vendor);
  expect([writtenAnswers, vendor.forgotten]).toEqual(['none left', ['a']]);
  await loop.close();
});

test('it has erased the person here while the vendor is away, and takes the copy off when it is back', async () => {
  const vendor = new ToyVendor();
  const away = new CloseloopError('the vendor is away', { kind: 'transient' });
  vendor.failures.forget.push(away, away);
  const { writtenAnswers, loop } = await writtenAnswersAfter('erase-away', vendor);
  expect([writtenAnswers, vendor.forgotten]).toEqual(['none left', ['a']]);
  expect(vendor.calls.filter(({ what }) => what === 'forget')).toHaveLength(3);
  await loop.close();
});

test('it takes off as well what was on its way to the record meanwhile', async () => {
  const vendor = new ToyVendor();
  const loop = await startLoop(redis, { source: 'erase-meanwhile', vendor });
  await loop.post(vendor.close('a', { customer, personId: 'p-7' }).delivery);
  await loop.journey('a.1', 'asked');
  vendor.beforeWriteBack = async () => {
    await loop.post(erase({ personIds: ['p-7'] }));
    await until(() => vendor.forgotten?.length === 1);
  };
  loop.feedback.standin.answer({ contact: customer.email, grade: 4, comment: 'Frau Muster was kind' });
  await until(() => vendor.forgotten?.length === 2);
  expect([vendor.written.length, vendor.forgotten]).toEqual([1, ['a', 'a']]);
  await until(async () => (await loop.app.engine.busy()) === 0);
  expect(await everything(loop)).not.toMatch(/erika|Muster|p-7/i);
  await loop.close();
});

const dead = new CloseloopError('the app was uninstalled', { kind: 'config' });
const odd = new CloseloopError('another shape than documented', { kind: 'permanent' });
const leavings: [what: string, vendor: Partial<ToyVendor>, writtenAnswers: string][] = [
  ['access-gone', { failures: { read: [], writeBack: [], forget: [dead] } }, 'the app was uninstalled'],
  ['odd-answer', { failures: { read: [], writeBack: [], forget: [odd] } }, 'another shape than documented'],
  ['kept-notes', { keeps: ['the notes: nobody can delete them'] }, 'the notes: nobody can delete them'],
  ['cannot', { forgotten: undefined }, 'everything: its connector takes nothing off again'],
];
test.each(leavings)('it says in the proof what was left on the record (%s)', async (what, vendor, left) => {
  const source = `erase-${what}`;
  const { writtenAnswers, loop } = await writtenAnswersAfter(source, Object.assign(new ToyVendor(), vendor));
  expect(writtenAnswers).toBe(`left at ${source}: ${left}`);
  expect(await loop.app.engine.paused()).toEqual({});
  await loop.close();
});
