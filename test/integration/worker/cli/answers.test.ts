import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportAnswers } from '../../../../worker/cli/answers.ts';
import { stepFollowUp } from '../../../../worker/cli/follow-ups.ts';
import { FollowUpLists } from '../../../../worker/journey/follow-up-lists.ts';
import { startLoop } from '../../../support/loop.ts';
import { daysAgo, printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, dir, fresh, redis } = useCommands();

/** A source with two answers of two days ago, of which the first has a follow-up. */
async function withAnswers() {
  const loop = await startLoop(redis, { source: fresh() });
  const { store } = loop;
  loop.vendor.recordUrl = (record) => `https://toy.example/records/${record}`;
  const lists = new FollowUpLists(redis.handle.client, store.source);
  for (const [id, grade, comment] of [
    ['a', 2, '=HYPERLINK("https://evil.example"), "late"'],
    ['b', 5, 'Kind,\nand quick'],
  ] as const) {
    await loop.asked(id, { store: 'Tallinn' });
    loop.feedback.standin.answer({ contact: `${id}@example.com`, grade, comment });
    await loop.journey(`${id}.1`, 'written');
    await store.update(`${id}.1`, (now) => {
      return now.answer && { journey: { ...now, answer: { ...now.answer, seenAt: daysAgo(2) } }, trace: [] };
    });
  }
  const followUp = { state: 'open', rule: 'unhappy', to: 'agent', openedAt: daysAgo(2), dueAt: daysAgo(1) } as const;
  await store.update('a.1', (now) => ({ journey: { ...now, followUp }, trace: [] }));
  await lists.relist('a.1', store);
  const options = { ...beside(loop), format: 'jsonl' as const };
  return { loop, options, ref: (id: string) => `${store.source}/${id}.1` };
}

test('an answer comes with its record, its fields and its follow-up, and without its contact', async () => {
  const { loop, options, ref } = await withAnswers();
  const { rows, out } = await printed(() => exportAnswers(options));
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({
    ...{ id: ref('a'), source: loop.store.source, record: 'a', url: 'https://toy.example/records/a', rule: 'all' },
    ...{ campaign: 12, grade: 2, maxGrade: 5, fields: { Store: 'Tallinn' }, survey: null },
    followUp: { state: 'open', rule: 'unhappy', to: 'agent', takenBy: null, outcome: null },
  });
  expect(rows[1]).toMatchObject({ id: ref('b'), comment: 'Kind,\nand quick', followUp: null });
  expect(out).not.toContain('@example.com');
});

test.each([
  [{ source: 'nowhere' }, 'There is no source "nowhere"; there are: '],
  [{ campaign: 999 }, 'There is no campaign "999"; there are: 12.'],
  [{ json: false, format: 'csv' as const, fields: 'Store,Nope' }, 'There is no field "Nope"; there are: Store.'],
  [{ since: '2026-11-20', until: '2026-11-01' }, '--since must be before --until.'],
])('answers of %o, which would be none, are refused with what there is', async (wrong, message) => {
  const { options } = await withAnswers();
  await expect(exportAnswers({ ...options, ...wrong })).rejects.toThrow(message);
});

test('answers of a campaign and a field that only an earlier rule had are there', async () => {
  const { loop, options } = await withAnswers();
  await loop.store.update('b.1', (now) => {
    return { journey: { ...now, campaign: 11, values: { Agent: 'Ann' } }, trace: [] };
  });
  expect((await printed(() => exportAnswers({ ...options, campaign: 11 }))).rows).toHaveLength(1);
  const file = { ...options, json: false, format: 'csv' as const, fields: 'Agent' };
  expect((await printed(() => exportAnswers(file))).out).toContain(',Ann,');
});

test('a file for spreadsheets has a column for each field that is named, and no formula', async () => {
  const { options, ref } = await withAnswers();
  const file = { ...options, json: false, format: 'csv' as const };
  const { out } = await printed(() => exportAnswers({ ...file, fields: 'Store, Store' }));
  const [head, ...lines] = out.split('\r\n');
  expect(head).toMatch(
    /^id,changedAt,source,record,url,.*,comment,Store,Store,survey,followUpState,.*,followUpOutcome$/,
  );
  expect(lines[0]).toContain(
    `,2,5,"'=HYPERLINK(""https://evil.example""), ""late""",Tallinn,Tallinn,,open,unhappy,agent,`,
  );
  expect(lines[1]).toContain('"Kind,\nand quick"');
  expect(lines).toHaveLength(3);
  const whole = await printed(() => exportAnswers(file));
  expect(whole.out).toContain(`${ref('a')},`);
  expect(whole.out).toContain(',"{""Store"":""Tallinn""}",');
});

test('a cursor in a file gives what is new or changed since the last run, and only then moves', async () => {
  const { options, ref } = await withAnswers();
  const cursorFile = join(dir, 'answers.cursor');
  const ids = async (more: object) =>
    (await printed(() => exportAnswers({ ...options, ...more }))).rows.map((row) => Object(row).id);
  const begun = Date.now();
  expect(await ids({ cursorFile })).toEqual([ref('a'), ref('b')]);
  expect(Date.parse(readFileSync(cursorFile, 'utf8').trim())).toBeGreaterThanOrEqual(begun);
  expect(await ids({ cursorFile })).toEqual([]);
  await printed(() => stepFollowUp({ ...options, journey: ref('a'), by: 'Maria' }, { do: 'take' }));
  expect(await ids({ cursorFile })).toEqual([ref('a')]);
  expect(readdirSync(dir).filter((name) => name.startsWith('answers.cursor'))).toEqual(['answers.cursor']);
  // Nobody reads what comes out.
  const before = readFileSync(cursorFile, 'utf8');
  await expect(exportAnswers({ ...options, cursorFile, source: 'nowhere' })).rejects.toThrow('no source');
  expect(readFileSync(cursorFile, 'utf8')).toBe(before);
  writeFileSync(cursorFile, 'yesterday');
  await expect(exportAnswers({ ...options, cursorFile })).rejects.toThrow('holds no cursor');
});

test('a cursor that is printed takes the next run on', async () => {
  const { options } = await withAnswers();
  const { said } = await sayings(() => exportAnswers({ ...options, cursor: 'start' }));
  const [, cursor] = /^cursor (\S+)\n$/.exec(said.join('')) ?? [];
  expect((await printed(() => exportAnswers({ ...options, cursor: cursor ?? '' }))).rows).toEqual([]);
  await expect(exportAnswers({ ...options, cursor: '1' })).rejects.toThrow('--cursor holds no cursor');
  const none = join(dir, 'none.cursor');
  await expect(exportAnswers({ ...options, cursor: 'start', cursorFile: none })).rejects.toThrow('one of both');
  await expect(exportAnswers({ ...options, fields: 'Store' })).rejects.toThrow('--fields is for "--format csv"');
  expect(existsSync(none)).toBe(false);
});
