import { expect, test } from 'vitest';
import { type DeskIntake, desk } from '../../../../../core/connector/desk/desk.ts';
import { comparedFields } from '../../../../../core/connector/desk/preflight.ts';
import { inPlainForm } from '../../../../../core/connector/desk/write.ts';

const declared = (fields?: { at: string }, intake?: DeskIntake) =>
  desk({
    vendor: 'Desk',
    record: 'record',
    ...(intake && { intake }),
    read: {
      isId: () => true,
      one: async (id: string) => ({ id }),
      present: async () => () => ({
        ...{ state: { is: 'open' as const }, shape: {}, personId: '7' },
        ...{ timeZone: 'nowhere', locale: '', country: 'EE', region: null },
      }),
    },
    write: {
      settings: { grade: 'grade' },
      written: inPlainForm,
      at: (_: { id: string }) => null,
      put: async (one) => one.row,
    },
    preflight: {
      credential: 'key',
      shape: { names: {}, hint: '' },
      probes: [{ what: 'the records', tries: async () => undefined }],
      isStandin: true,
      fields: {
        ...{ of: 'records', field: 'field', place: fields?.at ?? 'Settings' },
        list: async () => [],
        types: () => ({ types: ['number'] }),
      },
    },
  });
const about = { grades: [1], reads: [], answersWithinMs: 0 };

test('a desk without intake says that nothing is delivered, and takes nothing', () => {
  const source = declared();
  expect(source.isPolled).toBe(true);
  const delivery = { method: 'POST', url: '', headers: {}, raw: new Uint8Array(), receivedAt: new Date() };
  expect(source.verify(delivery)).toEqual({ ok: false, why: 'unsigned' });
});

test('a desk with intake has to be reached, and a desk without has not', async () => {
  const intake: DeskIntake = {
    secrets: ['s'],
    proof: { secretIn: 'x-secret' },
    events: () => ({ ok: false, why: '' }),
  };
  const found = async (one: ReturnType<typeof declared>) => ((await one.check?.(about)) ?? []).map(({ at }) => at);
  expect(await found(declared(undefined, intake))).toEqual(['http.publicUrl', 'writeBack.grade']);
  expect(await found(declared())).toEqual(['writeBack.grade']);
});

test('a customer is told of without what the vendor leaves empty', async () => {
  const [read] = await declared().read(['1']);
  expect(read).toEqual({
    ok: true,
    record: { id: '1', currentId: '1', state: { is: 'open' }, shape: {}, personId: '7', country: 'EE' },
  });
});

test('a desk that reads no record in any way is refused', () => {
  const read = { isId: () => true, present: async () => () => ({ state: { is: 'open' as const }, shape: {} }) };
  expect(() => desk({ vendor: 'Desk', record: 'record', read, write: { settings: {} } })).toThrow(
    'its `read` has neither `one` nor `many`',
  );
});

test('a desk names the actions that it does, unless the connector acts by itself', () => {
  const read = {
    isId: () => true,
    one: async () => ({}),
    present: async () => () => ({ state: { is: 'open' as const }, shape: {} }),
  };
  const actions = { reopen: { run: async () => 'reopened' } };
  const parts = { vendor: 'Desk', record: 'record', read, write: { settings: {} }, actions };
  expect(desk(parts).acts).toEqual(['reopen']);
  expect(desk({ ...parts, own: { act: async () => [] } }).acts).toBeUndefined();
});

test('a field that only people can make is a step of the setup, as of the check', async () => {
  const source = declared({ at: 'Settings > Fields' });
  const steps = (await source.setup?.(about)) ?? [];
  expect(steps.map(({ what }) => what)).toEqual(['records have no field "grade": by hand']);
  expect(await steps[0]?.apply()).toEqual({ note: 'Create it, of type number (Settings > Fields)' });
  expect(await source.check?.(about)).toMatchObject([{ level: 'error', at: 'writeBack.grade' }]);
});

test('a field whose type the vendor does not tell is not compared', async () => {
  const list = async () => [{ name: 'grade', required: false }];
  const fields = {
    of: 'records',
    field: 'field',
    place: 'Settings',
    list,
    types: () => ({ types: ['number'] as const }),
  };
  expect(await comparedFields(fields, { grade: 'grade' }, [1])).toEqual({ findings: [], missing: [] });
});
