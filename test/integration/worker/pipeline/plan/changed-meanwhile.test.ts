import type { Command } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { erase } from '../../../../../worker/pipeline/erase/erase.ts';
import { planAndAsk, Readings } from '../../../../../worker/pipeline/plan-and-ask.ts';
import { neverAsked } from '../../../../support/core/feedback/samples.ts';
import {
  anyone,
  closedAs,
  eraseOf,
  eventOf,
  jobsOf,
  open,
  overriding,
  type UnitContext,
  useManual,
} from '../../../../support/manual.ts';

// A customer who is due is asked by the reading of the record that planning made, and the journey is stored only with the intent to ask. What
// another worker hears of the record or the person in between finds no journey that it could end.

const world = useManual();
const goesOn = planAndAsk(async () => false, new Readings(), { asking: 500 });

/** Another record's: storing it has Redis know the script. */
const closing = { recordId: 'z', closing: 'z', closedAt: new Date(), eventKey: 'z', receivedAt: new Date() };

const rule = 'name: all, campaign: 12, contact: customer.email';

let here: UnitContext;
let elsewhere: UnitContext;
beforeEach(() => {
  here = world.unitContext();
  elsewhere = world.unitContext({ vendor: here.vendor });
  here.vendor.close('a', { ...anyone, ...closedAs('one'), personId: 'p-7' });
});

/** Plans and asks; `meanwhile` happens once, just after the step. */
async function asking(after: 'lock' | 'reserve', meanwhile: () => Promise<unknown>, { context } = here): Promise<void> {
  let isOver = false;
  const once = async <Result>(result: Promise<Result>): Promise<Result> => {
    const done = await result;
    if (!isOver) {
      isOver = true;
      await meanwhile();
    }
    return done;
  };
  const { contacts } = context;
  const watched = overriding(contacts, {
    ...(after === 'lock' && { lock: (...args) => once(contacts.lock(...args)) }),
    ...(after === 'reserve' && { reserve: (...args) => once(contacts.reserve(...args)) }),
  });
  await goesOn(eventOf('a'), { ...context, contacts: watched });
  expect(isOver).toBe(true);
}

const sent = () => world.standin.requests().length;
const changed = async (more: Parameters<typeof eventOf>[1] = {}) =>
  await goesOn(eventOf('a', { kind: 'changed', what: 'toy changed', ...more }), elsewhere.context);

describe.each(['lock', 'reserve'] as const)('after the %s', (point) => {
  test.each<[what: string, happens: () => Promise<unknown>]>([
    [
      'its record was reopened, and an event said so',
      async () => {
        here.vendor.close('a', { ...anyone, ...open });
        await changed();
      },
    ],
    [
      'its record was reopened, and an event of its closing found that',
      async () => {
        here.vendor.close('a', { ...anyone, ...open });
        await goesOn(eventOf('a'), elsewhere.context);
      },
    ],
    [
      'its record was deleted',
      async () => {
        here.vendor.records.delete('a');
        await changed();
      },
    ],
    [
      'its record was merged into an open one',
      async () => {
        here.vendor.close('b', { ...anyone, ...open });
        here.vendor.records.delete('a');
        await changed({ mergedInto: 'b' });
      },
    ],
  ])('nobody is asked where %s', async (_, happens) => {
    await asking(point, happens);
    expect(sent()).toBe(0);
    expect(await here.context.contacts.lastAsked('erika@example.com')).toBeUndefined();
    expect(await here.store.lists.counts()).toMatchObject({ waiting: 0, creating: 0, asked: 0 });
  });

  test('they are asked, once, where the record has changed, and is closed as it was', async () => {
    await asking(point, async () => await changed());
    expect(sent()).toBe(1);
    expect(await here.store.get('a.1')).toMatchObject({ state: 'asked', attempts: 1 });
  });

  test('they are asked about the later closing where the record was opened and closed again', async () => {
    await asking(point, async () => {
      here.vendor.close('a', { ...anyone, ...closedAs('two') });
      await changed();
    });
    expect(sent()).toBe(1);
    expect(await here.store.get('a.1')).toMatchObject({ state: 'asked', closing: 'two' });
  });

  test('nobody is asked again where a record that was asked about was merged into the record', async () => {
    here.vendor.close('z', { customer: { email: 'z@example.com' } });
    await goesOn(eventOf('z'), elsewhere.context);
    await asking(point, async () => {
      here.vendor.records.delete('z');
      await goesOn(eventOf('z', { kind: 'changed', what: 'toy merged', mergedInto: 'a' }), elsewhere.context);
    });
    expect(sent()).toBe(1);
    expect(await here.store.get('a.1')).toMatchObject({ state: 'skipped', reason: 'asked-already' });
  });

  test('they are asked, once, where another event of the closing is planned', async () => {
    await asking(point, async () => await goesOn(eventOf('a'), elsewhere.context));
    expect(sent()).toBe(1);
    expect(await here.store.get('a.1')).toMatchObject({ state: 'asked' });
    expect(await here.store.get('a.2')).toBeUndefined();
  });

  test.each([
    ['the contact', { contacts: ['erika@example.com'] }],
    ['the id of the person', { personIds: ['p-7'] }],
    ['the record', { recordIds: ['a'] }],
    ['everybody', { everybody: true }],
  ])('nobody is asked, and nothing is kept of them, where they were erased (by %s)', async (_, who) => {
    const before = { at: new Date(Date.now() - 40 * 86_400_000), journey: 'calm/old.1' };
    if (point === 'reserve') await here.context.contacts.setLastAsked('erika@example.com', before);
    await asking(point, async () => await erase(eraseOf(who), elsewhere.context));
    expect(sent()).toBe(0);
    const journey = await here.store.get('a.1');
    expect(journey).toMatchObject({ state: 'cancelled', erasedAt: expect.any(Date) });
    expect(journey).not.toHaveProperty('contact');
    expect(await here.context.contacts.lastAsked('erika@example.com')).toBeUndefined();
  });

  test('nobody is asked where their erasure was accepted, and has not begun', async () => {
    await asking(point, async () => {
      await elsewhere.engine.openIngestion();
      const request = { kind: 'erase' as const, at: new Date(), key: 'erase', what: 'toy erase', personIds: ['p-7'] };
      await elsewhere.engine.ingestion.store('calm', [request], new Date());
    });
    expect(sent()).toBe(0);
    expect(await here.store.get('a.1')).toMatchObject({ state: 'cancelled', contact: { value: 'erika@example.com' } });
  });
});

test('a customer is asked at once, and once, where Redis stored the journey and its answer was lost', async () => {
  const { client } = world.redis.handle;
  let repeated = 0;
  // As the client does after a connection was lost.
  const sendCommand = async (command: Command): Promise<unknown> => {
    const [, keys, , , list] = command.args;
    if (command.name === 'evalsha' && `${keys}` === '4' && `${list}`.endsWith(':state:creating')) {
      repeated++;
      await client.call('evalsha', ...command.args.map((one) => (Buffer.isBuffer(one) ? one : `${one}`)));
    }
    return await client.sendCommand(command);
  };
  const lossy = world.unitContext({ vendor: here.vendor, client: overriding(client, { sendCommand }) });
  await here.store.getOrCreate(closing, []);
  await goesOn(eventOf('a'), lossy.context);
  expect([repeated, sent()]).toEqual([1, 1]);
  expect(await here.store.get('a.1')).toMatchObject({ state: 'asked', attempts: 1 });
  expect(await here.context.contacts.lastAsked('erika@example.com')).toMatchObject({ journey: 'calm/a.1' });
});

test('a journey of a later closing is not ended by an earlier reading that found the record open', async () => {
  const later = world.unitContext({ vendor: here.vendor, rule: `{ ${rule}, delay: 1h }` });
  const read: typeof later.context.read = async (...about) => {
    here.vendor.close('a', { ...anyone, ...open });
    const status = await later.context.read(...about);
    here.vendor.close('a', { ...anyone, ...closedAs('two') });
    await goesOn(eventOf('a'), later.context);
    return status;
  };
  expect(await goesOn(eventOf('a'), { ...later.context, read })).toMatchObject({ do: 'wait' });
  expect(await later.store.get('a.1')).toMatchObject({ state: 'waiting', closing: 'two' });
});

test('two events of one closing take one place under a cap', async () => {
  const units = [1, 2].map(() => world.unitContext({ vendor: here.vendor, rule: `{ ${rule}, cap: { day: 1 } }` }));
  const [one, other] = [units[0] ?? expect.fail('none'), units[1] ?? expect.fail('none')];
  const { caps } = one.context;
  let isOver = false;
  const take: typeof caps.take = async (...args) => {
    const slot = await caps.take(...args);
    if (!isOver) {
      isOver = true;
      await goesOn(eventOf('a'), other.context);
    }
    return slot;
  };
  await goesOn(eventOf('a'), { ...one.context, caps: overriding(caps, { take }) });
  here.vendor.close('b', { customer: { email: 'b@example.com' } });
  await goesOn(eventOf('b'), one.context);
  expect(sent()).toBe(1);
  expect(await one.store.get('b.1')).toMatchObject({ state: 'waiting' });
});

test('a request that is being made while an erasure begins is left to the erasure, which cancels it', async () => {
  const { feedback } = here.context;
  const create: typeof feedback.create = async (...args) => {
    await erase(eraseOf({ personIds: ['p-7'] }), elsewhere.context);
    return await feedback.create(...args);
  };
  await goesOn(eventOf('a'), { ...here.context, feedback: { ...feedback, create } });
  const journey = await here.store.get('a.1');
  expect(journey).toMatchObject({ state: 'asked' });
  expect(journey).not.toHaveProperty('erasedAt');
});

test('a record that changes all the time is asked about by the asking stage', async () => {
  let rounds = 0;
  const { contacts } = here.context;
  const lock: typeof contacts.lock = async (...args) => {
    rounds++;
    await here.store.records.noteChanged('a');
    return await contacts.lock(...args);
  };
  await goesOn(eventOf('a'), { ...here.context, contacts: overriding(contacts, { lock }) });
  expect(rounds).toBe(3);
  expect(await here.store.get('a.1')).toMatchObject({ state: 'waiting' });
  expect(await jobsOf(here.pipeline.jobs.ask)).toEqual([{ journeyId: 'a.1' }]);
});

test('a journey that comes to nothing after its person was erased keeps nothing of them', async () => {
  const { feedback } = here.context;
  const listed = { entry: 'erika@example.com', date_added: new Date() };
  const contact: typeof feedback.contact = async () => {
    await erase(eraseOf({ personIds: ['p-7'] }), elsewhere.context);
    return { ...neverAsked, blacklist: listed };
  };
  await goesOn(eventOf('a'), { ...here.context, feedback: { ...feedback, contact } });
  expect(await here.store.get('a.1')).toMatchObject({ state: 'skipped', erasedAt: expect.any(Date) });
  expect(await here.store.get('a.1')).not.toHaveProperty('contact');
});

test('a journey whose customer is due is stored once before it asks', async () => {
  const states: string[] = [];
  await asking('reserve', async () => states.push(`${(await here.store.get('a.1'))?.state}`));
  expect(states).toEqual(['undefined']);
  expect(await here.store.get('a.1')).toMatchObject({ state: 'asked', rule: 'all', campaign: 12, attempts: 1 });
  const texts = (await here.store.trace('a.1')).map(({ text }) => text);
  expect(texts[0]).toMatch(/^received/);
  expect(texts).toContain('rule "all", campaign 12');
  expect(texts.slice(-2)).toEqual([
    'creating the feedback request',
    expect.stringMatching(/^asked: feedback request \d+ \(the service took it\)$/),
  ]);
  expect((await here.store.records.historyOf('a')).asked).toBe('a.1');
});
