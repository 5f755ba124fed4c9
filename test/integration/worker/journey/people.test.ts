import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { ContactMemory, type Limit } from '../../../../worker/journey/contacts.ts';
import { asEarlier, beforeThat } from '../../../../worker/journey/last-asked.ts';
import { useRedis } from '../../../support/redis.ts';
import { testSeal } from '../../../support/seal.ts';

const redis = useRedis();
const day = 86_400_000;
const now = new Date();
const daysAgo = (days: number) => new Date(now.getTime() - days * day);
const [mail, phone, other] = ['a@example.com', '+37255512345', 'b@example.com'];
const long = 60_000;

let people: ContactMemory;
beforeEach(async () => {
  await redis.handle.client.flushall();
  people = new ContactMemory(redis.handle.client, testSeal, 30 * day);
});

const anywhere = (days: number): Limit => ({ since: daysAgo(days), campaigns: undefined });
const within = (days: number, ...campaigns: number[]): Limit => ({
  since: daysAgo(days),
  campaigns: new Set(campaigns),
});
const reserves = async (
  contactKey: string,
  journey: string,
  limits: Limit[],
  more: { campaign?: number; at?: Date } = {},
) => await people.reserve({ contactKey, campaign: more.campaign ?? 12, note: { at: more.at ?? now, journey }, limits });
const linked = (one: string, ...others: string[]) =>
  people.link(
    one,
    others.map((key) => people.addressOf(key)),
  );

test('a request to one address of a person holds requests to the others, however they came to be known as one', async () => {
  await linked(mail, phone);
  await reserves(mail, 's/1.1', []);
  expect(await reserves(phone, 's/2.1', [anywhere(30)])).toEqual([{ limit: 0, at: now, journey: 's/1.1' }]);
  expect(await reserves(other, 's/3.1', [anywhere(30)])).toEqual([]);
});

test('two people who turn out to be one have been asked as often as both', async () => {
  await reserves(mail, 's/1.1', [], { at: daysAgo(5) });
  await reserves(phone, 's/2.1', [], { at: daysAgo(2), campaign: 13 });
  await linked(mail, phone);
  await linked(other, phone);
  const limits = [within(30, 12), within(30, 13), within(30, 14), within(3, 12, 13), within(4, 12)];
  expect(await reserves(other, 's/3.1', limits)).toEqual([
    { limit: 0, at: daysAgo(5), journey: 's/1.1' },
    { limit: 1, at: daysAgo(2), journey: 's/2.1' },
    { limit: 3, at: daysAgo(2), journey: 's/2.1' },
  ]);
});

test('a request that is held is not reserved, nor is its note stored', async () => {
  await reserves(mail, 's/1.1', []);
  await reserves(mail, 's/2.1', [anywhere(1)]);
  expect(await people.lastAsked(mail)).toMatchObject({ journey: 's/1.1' });
  await people.forgetAsked({ kind: 'email', value: mail }, 's/1.1');
  expect(await reserves(mail, 's/3.1', [anywhere(1)])).toEqual([]);
});

test("a journey's own reservation does not hold it, and can be given back by whoever made it only", async () => {
  await reserves(mail, 's/1.1', []);
  expect(await reserves(mail, 's/1.1', [anywhere(1)])).toEqual([]);
  await people.takeBack(mail, { journey: 's/1.1', at: daysAgo(1) }, undefined);
  expect(await reserves(mail, 's/2.1', [anywhere(1)])).toHaveLength(1);
  await people.takeBack(mail, { journey: 's/1.1', at: now }, undefined);
  expect(await reserves(mail, 's/2.1', [anywhere(1)])).toEqual([]);
});

test('a request that was withdrawn holds nobody', async () => {
  await linked(mail, phone);
  await reserves(mail, 's/1.1', []);
  await people.noteWithdrawn({ kind: 'email', value: mail }, 's/1.1');
  expect(await reserves(phone, 's/2.1', [anywhere(30)])).toEqual([]);
});

test('of many that ask one person at once, by several addresses, one reserves', async () => {
  await linked(mail, phone, other);
  const all = Array.from({ length: 30 }, (_, i) =>
    reserves([mail, phone, other][i % 3] ?? mail, `s/${i}.1`, [anywhere(30)]),
  );
  expect((await Promise.all(all)).filter((held) => held.length === 0)).toHaveLength(1);
});

test('one journey at a time asks a person, by whichever address, also where only the second knows that they are one', async () => {
  const first = (await people.lock(mail, 'one', long)) ?? expect.fail('no lock');
  expect(await people.lock(phone, 'two', long, [people.addressOf(mail)])).toBeUndefined();
  expect(await people.lock(phone, 'three', long)).toBeDefined();
  await people.release(first, 'one');
  expect(await people.lock(mail, 'four', long, [people.addressOf(phone)])).toBeUndefined();
});

test('an address that many share makes no one person of them', async () => {
  const shared = 'office@example.com';
  const customer = (n: number) => `customer-${n}@example.com`;
  for (let n = 0; n < 30; n++) await linked(customer(n), shared);
  await reserves(customer(0), 's/0.1', []);
  expect(await reserves(customer(29), 's/29.1', [anywhere(30)])).toEqual([]);
  const sizes = (await redis.handle.client.keys('{cl}:person:*:addresses')).map((key) =>
    redis.handle.client.scard(key),
  );
  expect(Math.max(...(await Promise.all(sizes)))).toBeLessThanOrEqual(16);
});

test('what is remembered of a person is bounded in size and in time, and names nobody', async () => {
  const { client } = redis.handle;
  await linked(mail, phone);
  await reserves(mail, 's/old.1', [], { at: daysAgo(401), campaign: 14 });
  await reserves(mail, 's/other.1', [], { at: daysAgo(399), campaign: 13 });
  for (let n = 0; n < 100; n++) await reserves(mail, `s/${n}.1`, [], { at: new Date(now.getTime() + n) });
  const { asks } = await people.recordOf(phone);
  expect([asks.length, asks[0]?.journey, asks.at(-1)]).toEqual([
    12,
    's/99.1',
    { campaign: 13, journey: 's/other.1', at: daysAgo(399) },
  ]);
  for (const key of await client.keys('*')) {
    expect(key).not.toMatch(/example|555/);
    expect(await client.pttl(key)).toBeGreaterThan(0);
  }
});

test('a person who is forgotten is known by no address, and was never asked', async () => {
  const { client } = redis.handle;
  await linked(mail, phone, other);
  await reserves(phone, 's/1.1', []);
  await people.forgetAsked({ kind: 'phone', value: phone });
  expect(await client.keys('{cl}:person:*')).toEqual([]);
  expect(await client.keys('{cl}:address:*')).toEqual([]);
  expect(await reserves(mail, 's/2.1', [anywhere(30)])).toEqual([]);
});

test('without any throttle nothing is linked, and nothing is remembered but the note', async () => {
  people = new ContactMemory(redis.handle.client, testSeal);
  await linked(mail, phone);
  await people.lock(mail, 'one', 1, [people.addressOf(phone)]);
  await reserves(mail, 's/1.1', []);
  const kept = (await redis.handle.client.keys('*')).filter((key) => !key.endsWith(':lock'));
  expect(kept).toEqual([expect.stringMatching(/:notes:/)]);
});

test('what was asked while no throttle was set counts for one that is set since: the last request of each campaign, however many came after', async () => {
  const before = new ContactMemory(redis.handle.client, testSeal);
  const asks = async (contactKey: string, journey: string, campaign: number, at: Date) =>
    await before.reserve({ contactKey, campaign, note: { at, journey }, limits: [] });
  await asks(mail, 's/1.1', 12, daysAgo(20));
  for (let n = 2; n < 30; n++) await asks(mail, `s/${n}.1`, 13, daysAgo(20 - n / 2));
  await asks(phone, 's/p.1', 14, daysAgo(1));
  const limits = [within(30, 12), within(10, 12), within(30, 14), within(30, 13, 15), within(30, 15)];
  expect(await people.heldBy({ contactKey: mail, campaign: 12, note: { at: now, journey: 's/x.1' }, limits })).toEqual([
    { limit: 0, at: daysAgo(20), journey: 's/1.1' },
    { limit: 3, at: daysAgo(5.5), journey: 's/29.1' },
  ]);
  // The phone turns out to be theirs.
  await linked(mail, phone);
  expect(await reserves(mail, 's/x.1', [within(30, 14)])).toMatchObject([{ journey: 's/p.1' }]);
});

test('a request of which the campaign is not known may have been in any', async () => {
  await people.setLastAsked(mail, { at: daysAgo(2), journey: 's/1.1' });
  expect(await reserves(mail, 's/2.1', [within(30, 12), within(1, 12)])).toEqual([
    { limit: 0, at: daysAgo(2), journey: 's/1.1' },
  ]);
});

test('what another journey has noted since the note was read stays, also when the later request is taken back', async () => {
  const read = await people.lastAsked(mail);
  await reserves(mail, 's/1.1', [], { campaign: 13 });
  const note = { at: now, journey: 's/2.1' };
  expect(await people.reserve({ contactKey: mail, campaign: 12, note, limits: [within(30, 12)] })).toEqual([]);
  const held = [{ limit: 0, at: now, journey: 's/1.1' }];
  expect(await reserves(mail, 's/3.1', [within(30, 13)])).toEqual(held);
  await people.takeBack(mail, note, read);
  expect(await reserves(mail, 's/3.1', [within(30, 13), within(30, 12)])).toEqual(held);
});

/** What becomes of a person: asked by an address in a campaign, a request withdrawn, given up or taken back. */
const happenings = fc.array(
  fc.record({
    what: fc.constantFrom('ask', 'ask', 'ask', 'withdraw', 'give back', 'take back'),
    by: fc.constantFrom('mail', 'phone', 'other'),
    campaign: fc.constantFrom(12, 13, 14),
    of: fc.nat(9),
  }),
  { maxLength: 14 },
);

test('whatever is asked and comes to nothing: a throttle that is set afterwards counts the last request in its campaigns that stands', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(happenings, async (all) => {
      run++;
      const addresses = { mail: `${run}${mail}`, phone: `${phone}${run}`, other: `${run}${other}` };
      await linked(addresses.mail, addresses.phone, addresses.other);
      const before = new ContactMemory(redis.handle.client, testSeal);
      let standing: { key: string; journey: string; campaign: number; at: Date }[] = [];
      for (const [i, { what, by, campaign, of }] of all.entries()) {
        const key = addresses[by];
        const one = standing[of % Math.max(1, standing.length)];
        if (what === 'ask') {
          const [journey, at] = [`s/${i}.1`, new Date(now.getTime() - 86_400_000 + i)];
          const last = await before.lastAsked(key);
          const note = { at, journey, ...(last && !last.withdrawn && asEarlier(last)) };
          await before.reserve({ contactKey: key, campaign, note, limits: [] });
          standing.push({ key, journey, campaign, at });
        } else if (one) {
          const contact = { kind: one.key === addresses.phone ? 'phone' : 'email', value: one.key } as const;
          if (what === 'withdraw') await before.noteWithdrawn(contact, one.journey);
          if (what === 'give back') await before.forgetAsked(contact, one.journey);
          if (what === 'take back') {
            const last = await before.lastAsked(one.key);
            await before.takeBack(
              one.key,
              { ...one, ...(last && { earlier: last.earlier }) },
              last && beforeThat(last),
            );
          }
          standing = standing.filter((other) => other !== one);
        }
      }
      const groups = [[12], [13], [14], [12, 13], [13, 14], [12, 13, 14]];
      const held = await reserves(
        addresses.mail,
        's/x.1',
        groups.map((some) => within(30, ...some)),
      );
      const expected = groups.flatMap((some, limit) => {
        const last = standing.findLast(({ campaign }) => some.includes(campaign));
        return last ? [{ limit, at: last.at, journey: last.journey }] : [];
      });
      expect(held).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});
