import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import type { RequestPage } from '../../../../core/feedback/client.ts';
import type { RequestQuery } from '../../../../core/feedback/request-form.ts';
import { SharedExports } from '../../../../worker/pipeline/shared-exports.ts';

const page: RequestPage = { count: 2_000, results: [], unreadable: [] };
const contact = { kind: 'email', value: 'a@example.com' } as const;
const other = { kind: 'email', value: 'b@example.com' } as const;

/** Two pages an export, each of which waits for `go`. */
function exporting(options: { isByContact?: boolean; fails?: boolean } = {}) {
  const begun: RequestQuery[] = [];
  const waiting: (() => void)[] = [];
  let pages = 0;
  const requestPages = async function* (query: RequestQuery = {}) {
    begun.push(query);
    for (let n = 0; n < 2; n++) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (options.fails) throw new Error('away');
      pages += 1;
      yield page;
    }
  };
  const exports = new SharedExports(pLimit(1), { isByContact: options.isByContact ?? false });
  const look = (more: { dateFrom?: string; contact?: typeof contact | typeof other; isDone?: boolean } = {}) => {
    const { dateFrom = '2026-11-02', isDone = false, ...rest } = more;
    const visit = () => isDone;
    return exports.read({ campaign: 12, contact, ...rest, dateFrom, visit }, { requestPages });
  };
  /** All that is read may go on, until these are answered. */
  const finish = async (looks: Promise<void>[]) => {
    const all = Promise.allSettled(looks);
    let isOver = false;
    void all.then(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const resolve of waiting.splice(0)) resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return (await all).map(({ status }) => status);
  };
  return { look, finish, begun, read: () => pages };
}

test('whoever comes while an export is read shares the next reading with all others, from the earliest day on', async () => {
  const { look, finish, begun, read } = exporting();
  const first = look();
  await new Promise((resolve) => setImmediate(resolve));
  const more = ['2026-11-05', '2026-11-01', '2026-11-03'].map((dateFrom) => look({ dateFrom }));
  expect(await finish([first, ...more])).toEqual(Array.from({ length: 4 }, () => 'fulfilled'));
  expect(begun).toMatchObject([{ dateFrom: '2026-11-02' }, { campaign: 12, dateFrom: '2026-11-01' }]);
  expect(read()).toBe(4);
});

test('it is read no further than anybody needs it', async () => {
  const { look, finish, read } = exporting();
  await finish([look({ isDone: true }), look({ isDone: true })]);
  expect(read()).toBe(1);
});

test('it is read for each contact where the list can be narrowed to one', async () => {
  const { look, finish, begun } = exporting({ isByContact: true });
  await finish([look(), look({ contact: other })]);
  expect(begun).toMatchObject([{ contact }, { contact: other }]);
});

test('its failure is told to all who share it, and to nobody else', async () => {
  const { look, finish } = exporting({ fails: true });
  expect(await finish([look(), look()])).toEqual(['rejected', 'rejected']);
  expect(await finish([look()])).toEqual(['rejected']);
});
