import { expect, test } from 'vitest';
import { VendorError } from '../../../../../core/connector/classify.ts';
import { putTogether } from '../../../../../core/connector/desk/together.ts';
import { type ChangedRow, Refusal } from '../../../../../core/connector/desk/writing.ts';

type Changed = ChangedRow<string, string | number>;

const errorOf = (code: string) =>
  new VendorError('Desk: put', {
    ...{ advice: { kind: 'permanent' }, outcome: 'refused', problem: 'p', remedy: 'r', status: 200, code },
  });
const isRefusal = (error: unknown): error is VendorError => error instanceof VendorError && error.code === 'VALUE';
const changed = (id: string, values: Record<string, string | number>): Changed => ({
  ...{ id, row: `${id} before` },
  change: { values: new Map(Object.entries(values)) },
});

/** Refuses the whole call for a value "bad", and one record for a value "odd". */
function desk(mostBytes = 10_000) {
  const calls: string[][] = [];
  const put = async (some: readonly Changed[]) => {
    calls.push(some.map(({ id }) => id));
    const holds = ({ change }: Changed, value: string) => [...change.values.values()].includes(value);
    if (some.some((one) => holds(one, 'bad'))) throw errorOf('VALUE');
    if (some.some((one) => holds(one, 'down'))) throw errorOf('DOWN');
    return new Map(some.map((one) => [one.id, holds(one, 'odd') ? errorOf('VALUE') : `${one.id} after`]));
  };
  return { calls, putMany: putTogether({ vendor: 'Desk', put, mostBytes, isRefusal }) };
}

test('what fits goes in one call', async () => {
  const { calls, putMany } = desk();
  const written = await putMany([changed('1', { a: 'x' }), changed('2', { a: 'y' })]);
  expect([...written]).toEqual([
    ['1', '1 after'],
    ['2', '2 after'],
  ]);
  expect(calls).toEqual([['1', '2']]);
});

test('what does not fit goes by halves, and a single record always', async () => {
  const { calls, putMany } = desk(10);
  await putMany(['1', '2', '3'].map((id) => changed(id, { a: 'x' })));
  expect(calls).toEqual([['1'], ['2'], ['3']]);
});

test('of a call that is refused as a whole all others are written, and the value that does not fit is named', async () => {
  const { putMany } = desk();
  const ids = ['1', '2', '3', '4', '5'];
  const written = await putMany(ids.map((id) => changed(id, id === '4' ? { a: 'x', b: 'bad' } : { a: 'x' })));
  expect(ids.map((id) => written.get(id) instanceof Refusal)).toEqual([false, false, false, true, false]);
  expect(written.get('4')).toMatchObject({
    unfit: ['b'],
    findings: [expect.stringContaining('"b" takes no such text')],
  });
});

test('the values of a refused record are tried one by one; where each fits alone, none of them is taken', async () => {
  const { putMany } = desk();
  expect((await putMany([changed('1', { a: 'odd', b: 7 }), changed('2', { a: 'x' })])).get('1')).toMatchObject({
    unfit: ['a'],
  });
  expect((await putMany([changed('1', { a: 'bad' })])).get('1')).toMatchObject({ unfit: ['a'] });
});

test('any other failure is thrown', async () => {
  const { putMany } = desk();
  await expect(putMany([changed('1', { a: 'down' })])).rejects.toMatchObject({ code: 'DOWN' });
  await expect(putMany([changed('1', { a: 'bad', b: 'down' })])).rejects.toMatchObject({ code: 'DOWN' });
});
