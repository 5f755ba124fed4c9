import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GroupCommit } from '../../../../worker/pipeline/group-commit.ts';

/** Writes that end when the test lets them, by their items. */
function slowWrites({ items = 3, size = 100 } = {}) {
  const writes: { wrote: string; end: PromiseWithResolvers<void> }[] = [];
  const group = new GroupCommit<string>({
    items,
    size,
    sizeOf: ({ length }) => length,
    write: async (all) => {
      const end = Promise.withResolvers<void>();
      writes.push({ wrote: all.join(' '), end });
      await end.promise;
    },
  });
  const wrote = () => writes.map((one) => one.wrote);
  return {
    group,
    wrote,
    end: (n: number) => writes[n]?.end.resolve(),
    fail: (n: number) => writes[n]?.end.reject('no'),
  };
}

test('one alone is written in the next turn of the event loop, with those that come in the same turn', async () => {
  const { group, wrote, end } = slowWrites();
  const stored = [group.add('a'), group.add('b')];
  await nextTurn();
  expect(wrote()).toEqual(['a b']);
  end(0);
  await Promise.all(stored);
  const later = group.add('c');
  await nextTurn();
  expect(wrote()).toEqual(['a b', 'c']);
  end(1);
  await later;
});

test('those that come while a write is on its way leave together when it has ended', async () => {
  const { group, wrote, end } = slowWrites();
  const first = group.add('a');
  await nextTurn();
  const others = [group.add('b'), group.add('c')];
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(wrote()).toEqual(['a']);
  end(0);
  await first;
  expect(wrote()).toEqual(['a', 'b c']);
  end(1);
  await Promise.all(others);
});

test('a full group waits for no other: by number, and by size', async () => {
  const { group, wrote, end } = slowWrites({ items: 3, size: 10 });
  const stored = ['a', 'b', 'c', 'd', '0123456789', 'e'].map((item) => group.add(item));
  expect(wrote()).toEqual(['a b c', 'd 0123456789']);
  await nextTurn();
  expect(wrote()).toHaveLength(2);
  end(1);
  await nextTurn();
  expect(wrote()).toEqual(['a b c', 'd 0123456789', 'e']);
  end(0);
  end(2);
  await Promise.all(stored);
});

test('a write that fails refuses its own group, and no other', async () => {
  const { group, wrote, end, fail } = slowWrites({ items: 2 });
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((item) => group.add(item).then(() => 'stored', String));
  expect(wrote()).toEqual(['a b', 'c d']);
  fail(0);
  expect(await Promise.all([a, b])).toEqual(['no', 'no']);
  end(1);
  end(2);
  expect(await Promise.all([c, d, e])).toEqual(['stored', 'stored', 'stored']);
});
