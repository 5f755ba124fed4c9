import { expect, test } from 'vitest';
import { desk } from '../../../../../core/connector/desk/desk.ts';
import { comparedFields } from '../../../../../core/connector/desk/preflight.ts';
import { inPlainForm } from '../../../../../core/connector/desk/write.ts';

const declared = (fields?: { at: string }) =>
  desk({
    vendor: 'Desk',
    record: 'record',
    read: {
      isId: () => true,
      one: async (id: string) => ({ id }),
      present: async () => () => ({ state: { is: 'open' as const }, shape: {} }),
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
      probes: [{ at: 'key', what: 'the records', tries: async () => undefined }],
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
