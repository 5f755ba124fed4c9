import { expect, test } from 'vitest';
import { aboutRecords, callNotes, notingCalls } from '../../../../core/connector/calls.ts';
import { mostCalls, newCallsOf, type StoredCall, WorkCalls, withCalls } from '../../../../worker/journey/calls.ts';

const now = new Date('2026-11-27T03:00:00Z');
/** @param letter stands for its name */
const call = (letter: string, end: number | string = 200, tries = 1): StoredCall => {
  return { at: now, name: letter === '?' ? 0 : letter.charCodeAt(0), end, ms: 40, tries };
};

test.each<[name: string, calls: StoredCall[], expected: StoredCall[]]>([
  ['keeps calls in their order', [call('A'), call('B')], [call('A'), call('B')]],
  ['takes a call after a 503 for a further try', [call('A', 503), call('A', 503), call('A')], [call('A', 200, 3)]],
  ['takes a call after no answer for a further try', [call('A', 'late', 2), call('A', 429)], [call('A', 429, 3)]],
  ['puts a further try where it was made', [call('A', 503), call('B'), call('A')], [call('B'), call('A', 200, 2)]],
  ['takes nobody known, and then somebody, for two answers', [call('A', 404), call('A')], [call('A', 404), call('A')]],
  ['takes no call without a name for a try of another', [call('?', 503), call('?')], [call('?', 503), call('?')]],
  ['takes a refusal for an answer', [call('A', 422), call('A')], [call('A', 422), call('A')]],
])('it %s', (_name, calls, expected) => {
  expect(withCalls([], calls)).toEqual(expected);
  const [first, ...others] = calls;
  expect(withCalls(first ? [first] : [], others)).toEqual(expected);
});

test('the last twenty calls stay', () => {
  const all = Array.from({ length: mostCalls + 5 }, (_, i) => call(String.fromCharCode(65 + i)));
  expect(withCalls(all.slice(0, 7), all.slice(7))).toEqual(all.slice(5));
});

const journey = (id: string, more = {}) =>
  ({ id, source: 'support', recordId: id.split('.')[0] ?? '', ...more }) as Parameters<typeof newCallsOf>[0];

function work<T>(of: (note: (operation: string, recordIds?: string[]) => void, calls: WorkCalls) => T): T {
  const calls = new WorkCalls(() => now);
  const note = (operation: string, recordIds?: string[]) => {
    const made = { to: 'Zendesk acme', operation, end: 200, begunAt: performance.now(), ms: 40, tries: 1 };
    if (recordIds) aboutRecords(recordIds, () => callNotes()?.note(made));
    else callNotes()?.note(made);
  };
  return notingCalls(calls, () => of(note, calls));
}

const operationsFor = (of: ReturnType<typeof journey>) => newCallsOf(of).calls.map(({ operation }) => operation);

test('a journey is given those calls of the work that are not stored with it yet, also where another journey has them', () => {
  work((note, calls) => {
    note('read');
    newCallsOf(journey('7.1')).stored();
    note('create');
    expect(operationsFor(journey('7.1'))).toEqual(['create']);
    const news = newCallsOf(journey('7.2'));
    expect(news.calls.map(({ operation }) => operation)).toEqual(['read', 'create']);
    // Made while the journey was being stored.
    note('later');
    news.stored();
    expect(operationsFor(journey('7.2'))).toEqual(['later']);
    expect(calls.behind('support')).toBe('7.2');
    newCallsOf(journey('7.2')).stored();
    expect(calls.behind('support')).toBeUndefined();
    expect(calls.behind('support', '7.1')).toBe('7.1');
  });
});

test('a journey is given calls about its record, the record it was merged into, or its request, and none about others', () => {
  work((note) => {
    note('all');
    for (const id of ['7', '8', '9', 'r1', '1']) note(id, [id, 'x']);
    expect(operationsFor(journey('7.1'))).toEqual(['all', '7']);
    expect(operationsFor(journey('7.1', { currentId: '9', requestId: 'r1' }))).toEqual(['all', '7', '9', 'r1']);
  });
});

test('work that makes calls without end keeps the last twenty, and says what is stored all the same', () => {
  work((note, calls) => {
    for (let i = 0; i < 15; i++) note(`call ${i}`);
    newCallsOf(journey('7.1')).stored();
    for (let i = 15; i < 30; i++) note(`call ${i}`);
    expect(operationsFor(journey('7.1'))).toEqual(Array.from({ length: 15 }, (_, i) => `call ${i + 15}`));
    expect(operationsFor(journey('7.2'))).toHaveLength(mostCalls);
    calls.begin();
    expect(operationsFor(journey('7.2'))).toEqual([]);
    note('of the next page');
    expect(operationsFor(journey('7.1'))).toEqual(['of the next page']);
  });
});

test('nobody notes the calls of other work', () => {
  expect(newCallsOf(journey('7.1')).calls).toEqual([]);
  expect(aboutRecords(['7'], () => callNotes())).toBeUndefined();
});
