import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contactKey } from '../../../../core/contact.ts';
import { ContactMemory } from '../../../../worker/journey/contacts.ts';
import { settingNotes } from '../../../../worker/journey/people-scripts.ts';
import { runScript } from '../../../../worker/redis/client.ts';
import { until } from '../../../support/loop.ts';
import { overriding } from '../../../support/manual.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';

const redis = useRedis();
const memory = () => new ContactMemory(redis.handle.client, testSeal);
const long = 60_000;

test('it lets one of many ask a person at a time', async () => {
  const contacts = memory();
  const tries = await Promise.all(
    Array.from({ length: 20 }, (_, i) => contacts.lock('email:one@example.com', `t${i}`, long)),
  );
  expect(tries.filter(Boolean)).toHaveLength(1);
  expect(await contacts.lock('email:other@example.com', 't', long)).toBeDefined();
});

test('it releases only its own lock', async () => {
  const contacts = memory();
  const person = (await contacts.lock('email:mine@example.com', 'mine', long)) ?? expect.fail('no lock');
  await contacts.release(person, 'somebody else');
  expect(await contacts.lock('email:mine@example.com', 'next', long)).toBeUndefined();
  await contacts.release(person, 'mine');
  expect(await contacts.lock('email:mine@example.com', 'next', long)).toEqual(person);
});

test('it gives a lock again to whoever has it: the answer to the first command may have been lost', async () => {
  const contacts = memory();
  await contacts.lock('email:resent@example.com', 'mine', long);
  expect(await contacts.lock('email:resent@example.com', 'mine', long)).toBeDefined();
  expect(await contacts.lock('email:resent@example.com', 'other', long)).toBeUndefined();
});

test('it ends the lock of a killed worker by itself', async () => {
  const contacts = memory();
  await contacts.lock('email:killed@example.com', 'killed', 50);
  await until(() => contacts.lock('email:killed@example.com', 'next', long));
});

test('it remembers when a person was asked last, and by which journey', async () => {
  const contacts = memory();
  const asked = { at: new Date('2026-05-04T09:00:00.123Z'), journey: 'support/41960.1' };
  expect(await contacts.lastAsked('phone:+37255500001')).toBeUndefined();
  await contacts.setLastAsked('phone:+37255500001', asked);
  expect(await contacts.lastAsked('phone:+37255500001')).toEqual(asked);
  expect(await contacts.lastAsked('phone:+37255500002')).toBeUndefined();
  await contacts.setLastAsked('phone:+37255500001', undefined);
  expect(await contacts.lastAsked('phone:+37255500001')).toBeUndefined();
});

test('it keeps what another notes while a request is noted as withdrawn, or as never sent (audit twice)', async () => {
  const { client } = redis.handle;
  const one = { at: new Date('2026-05-04T09:00:00Z'), journey: 'support/1.1' };
  const other = { at: new Date('2026-05-04T09:01:00Z'), journey: 'shop/2.1', earlier: [one] };
  const contact = { kind: 'email', value: 'race@example.com' } as const;
  const key = contactKey(contact);
  const steps = {
    noteWithdrawn: (by: ContactMemory) => by.noteWithdrawn(contact, one.journey),
    forgetAsked: (by: ContactMemory) => by.forgetAsked(contact, one.journey),
    takeBack: (by: ContactMemory) => by.takeBack(key, one, undefined),
  };
  for (const step of Object.values(steps)) {
    await memory().setLastAsked(key, one);
    let isFirst = true;
    const racing = overriding(client, {
      hget: async (notes: string, address: string) => {
        const found = await client.hget(notes, address);
        if (isFirst) await memory().setLastAsked(key, other);
        isFirst = false;
        return found;
      },
    });
    await step(new ContactMemory(racing, testSeal));
    expect(await memory().lastAsked(key)).toMatchObject({ journey: other.journey, at: other.at });
  }
});

test('it stores no contact, and nothing for ever', async () => {
  const contacts = memory();
  await contacts.lock('email:private@example.com', 'token', long);
  await contacts.setLastAsked('email:private@example.com', { at: new Date(), journey: 'support/1.1' });
  const { client } = redis.handle;
  for (const key of await client.keys('*')) {
    expect(`${key} ${await client.dump(key)}`).not.toMatch(/private|example\.com/);
    expect(await client.pttl(key)).toBeGreaterThan(0);
  }
});

test('a note comes out as it was stored, whatever it holds, and beside those of others', async () => {
  const at = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2200-01-01') });
  const one = { at, journey: fc.constantFrom('support/1.1', 'shop/order 7 {x}.12', 'elsewhere') };
  const request = fc.record({ ...one, scheduled: at }, { requiredKeys: ['at', 'journey'] });
  const note = fc.record(
    { ...one, scheduled: at, withdrawn: fc.boolean(), earlier: fc.array(request, { maxLength: 3 }) },
    { requiredKeys: ['at', 'journey'] },
  );
  const contacts = memory();
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom('a', 'b', 'c'), note), async (notes) => {
      for (const [who, last] of Object.entries(notes)) await contacts.setLastAsked(`email:${who}@example.com`, last);
      for (const [who, last] of Object.entries(notes))
        expect(await contacts.lastAsked(`email:${who}@example.com`)).toEqual(last);
    }),
    { numRuns: 50 },
  );
});

test('notes that are too old go once others are noted beside them', async () => {
  const { client } = redis.handle;
  const set = async (address: string, daysAgo: number) =>
    await runScript(
      client,
      `${settingNotes} setNote(KEYS[1], unpack(ARGV))`,
      ['{cl}:notes:test'],
      address,
      `${Date.now() - daysAgo * 86_400_000} support/1.1`,
      400 * 86_400_000,
    );
  for (const n of [1, 2, 3, 4, 5, 6, 7]) await set(`old${n}`, 401);
  await set('old1', 399);
  expect(await client.hlen('{cl}:notes:test')).toBe(7);
  await set('new', 0);
  expect((await client.hkeys('{cl}:notes:test')).toSorted()).toEqual(['new', 'old1']);
});
