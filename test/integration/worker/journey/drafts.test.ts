import { describe, expect, test } from 'vitest';
import type { Journey } from '../../../../worker/journey/journey.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { claimOf, useStores } from '../../../support/worker/journey/stores.ts';

const { fresh } = useStores();

describe('a draft', () => {
  const draftOf = async ({ store }: ReturnType<typeof fresh>, closing: string, event: string) => {
    const { id } = await store.records.nameOf('r', closing);
    return store.drafts.make(id, claimOf('r', closing, event), ['received']);
  };

  test('it is stored by its first change, with what was written before and then, and found by its event and its person', async () => {
    const made = fresh();
    const { store, now } = made;
    const draft = await draftOf(made, 'first', 'a');
    expect(await store.get(draft.id)).toBeUndefined();
    const contact = { kind: 'email', value: 'draft@example.com' } as const;
    const waiting = await store.update(draft, (journey) => ({
      journey: step(journey, 'waiting', now(), { contact }),
      trace: ['waits'],
    }));
    expect(await store.get('r.1')).toEqual(waiting);
    expect(waiting).toMatchObject({ id: 'r.1', state: 'waiting', contact });
    expect((await store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits']);
    expect((await (await store.records.read('r')).journeyOf('a', undefined))?.id).toBe('r.1');
    expect((await store.queries.of({ contact })).map(({ id }) => id)).toEqual(['r.1']);
    expect(await store.lists.counts()).toMatchObject({ received: 0, waiting: 1 });
    // What was returned is changed further without being read again.
    await store.note(waiting ?? draft, 'a note');
    expect((await store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits', 'a note']);
  });

  test.each([
    ['its closing has a journey by now', 'first', 'b'],
    ['its event has a journey by now', 'second', 'a'],
    ['its number is that of another closing by now', 'second', 'b'],
  ])('it is not stored where %s', async (_, closing, event) => {
    const made = fresh();
    const { store, now } = made;
    const draft = await draftOf(made, 'first', 'a');
    await store.getOrCreate(claimOf('r', closing, event), []);
    const waits = (journey: Journey) => ({ journey: step(journey, 'waiting', now()), trace: ['waits'] });
    expect(await store.update(draft, waits)).toBeUndefined();
    expect(await store.lists.counts()).toMatchObject({ received: 1, waiting: 0 });
    expect((await store.records.historyOf('r')).latest).toBe('r.1');
  });

  test('it is kept as it is where nothing could be decided', async () => {
    const made = fresh();
    const draft = await draftOf(made, 'first', 'a');
    await made.store.keep(draft, []);
    expect(await made.store.get('r.1')).toEqual(draft);
    await made.store.keep(draft, ['waits']);
    expect((await made.store.trace('r.1')).map(({ text }) => text)).toEqual(['received', 'waits']);
  });
});
