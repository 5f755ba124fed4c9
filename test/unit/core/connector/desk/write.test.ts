import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markerOf } from '../../../../../core/connector/answer.ts';
import { permanent, VendorError } from '../../../../../core/connector/classify.ts';
import { type ChangedRow, Refusal } from '../../../../../core/connector/desk/writing.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { answer, failure, fakeDesk, type Row } from './fake-desk.ts';

const held = { grade: 9, comment: 'fine', at: '2026-11-20T10:00:00.000Z', status: 'answered' };
const later = answer({ marker: '7.v2', grade: 3, comment: 'no', answeredAt: new Date('2026-11-20T11:00:00Z') });

describe('an answer', () => {
  test('is written in one call after one reading, with its tags, and its note without a look', async () => {
    const { rows, calls, writeBack } = fakeDesk(['1']);
    expect(await writeBack([answer()])).toEqual([{ ok: true, findings: [] }]);
    expect(calls).toEqual(['read 1', 'put 1 grade,comment,at,status', 'note 1']);
    expect(rows.get('1')).toMatchObject({ fields: held, tags: ['vip', 'fb_answered', 'fb_grade_9'] });
    expect(rows.get('1')?.notes.map(markerOf)).toEqual(['7.v1']);
  });

  test('that is there already is not sent, and its note is looked for', async () => {
    const { calls, writeBack } = fakeDesk(['1']);
    await writeBack([answer()]);
    calls.length = 0;
    expect(await writeBack([answer()])).toEqual([{ ok: true, findings: [] }]);
    expect(calls).toEqual(['read 1', 'look 1']);
  });

  test('replaces an earlier one, and sends only what differs', async () => {
    const { rows, calls, writeBack } = fakeDesk(['1']);
    await writeBack([answer()]);
    calls.length = 0;
    await writeBack([later]);
    expect(calls).toEqual(['read 1', 'put 1 grade,comment,at', 'look 1', 'note 1']);
    expect(rows.get('1')).toMatchObject({
      fields: { grade: 3, comment: 'no' },
      tags: ['vip', 'fb_answered', 'fb_grade_3'],
    });
  });

  test('never replaces a newer one', async () => {
    const { rows, writeBack } = fakeDesk(['1']);
    await writeBack([later]);
    const [result] = await writeBack([answer()]);
    expect(result).toMatchObject({ ok: true, unwritten: expect.stringContaining('newer answer') });
    expect(rows.get('1')?.fields.grade).toBe(3);
  });

  test('without a comment empties the earlier comment', async () => {
    const { rows, writeBack } = fakeDesk(['1']);
    await writeBack([answer()]);
    await writeBack([{ ...later, comment: null }]);
    expect(rows.get('1')?.fields).toMatchObject({ grade: 3, comment: null });
  });

  test('without a comment is no reason to look for a note', async () => {
    const { calls, writeBack } = fakeDesk(['1']);
    await writeBack([answer({ comment: null })]);
    expect(calls).toEqual(['read 1', 'put 1 grade,at,status', 'note 1']);
  });

  test('of an expired request is a status alone, and no note', async () => {
    const { rows, calls, writeBack } = fakeDesk(['1']);
    await writeBack([answer({ status: 'no-answer', grade: null, comment: null, marker: '7.none' })]);
    expect(calls).toEqual(['read 1', 'put 1 status']);
    expect(rows.get('1')).toMatchObject({ fields: { status: 'no-answer' }, tags: ['vip', 'fb_no_answer'] });
  });

  test.each([{}, { silent: true as const }, { bulk: true as const }, { bulk: true as const, silent: true as const }])(
    'is told where the vendor does not keep a part of it (%j)',
    async (how) => {
      const { rows, writeBack } = fakeDesk(['1'], { ...how, swallows: ['comment'] });
      const [result] = await writeBack([answer()]);
      expect(result).toEqual({ ok: true, findings: [expect.stringContaining('Desk did not keep "comment"')] });
      expect(rows.get('1')?.fields.grade).toBe(9);
    },
  );

  test.each([{}, { bulk: true as const }])('is written without what the vendor refuses, and told (%j)', async (how) => {
    const { rows, writeBack } = fakeDesk(['1'], { ...how, refuses: ['grade'] });
    expect(await writeBack([answer()])).toEqual([{ ok: true, findings: ['grade takes no such value'] }]);
    expect(rows.get('1')?.fields).toMatchObject({ comment: 'fine', status: 'answered' });
    expect(rows.get('1')?.notes).toHaveLength(1);
  });

  test('is a note alone where the vendor refuses every field', async () => {
    const { rows, writeBack } = fakeDesk(['1'], { refuses: Object.keys(held) });
    const [result] = await writeBack([answer()]);
    expect(result?.ok && result.findings).toHaveLength(4);
    expect(rows.get('1')).toMatchObject({ fields: {}, notes: [expect.stringContaining('9 of 10')] });
  });

  test.each(['2', '../1', '#'])('about a record that is not there (%j) has no record', async (recordId) => {
    const { writeBack } = fakeDesk(['1']);
    const [result] = await writeBack([answer({ recordId })]);
    expect(result).toMatchObject({ ok: false, why: 'not-found' });
    expect(JSON.stringify(result)).not.toContain('..');
  });

  test('on a record that takes nothing any more says why', async () => {
    const { rows, calls, writeBack } = fakeDesk(['1']);
    const row = rows.get('1');
    if (row) row.archived = true;
    const [result] = await writeBack([answer()]);
    expect(result).toEqual({ ok: false, why: 'closed', message: 'Desk takes no answer on record 1: it is archived.' });
    expect(calls).toEqual(['read 1']);
  });
});

describe('of several answers', () => {
  const three = ['1', '2', '3'].map((recordId) => answer({ recordId }));

  test('all are read in one call, and written in one where the vendor can', async () => {
    const { calls, writeBack } = fakeDesk(['1', '2', '3'], { bulk: true });
    await writeBack(three);
    expect(calls.slice(0, 2)).toEqual(['read 1,2,3', 'put 1,2,3']);
  });

  test('one that is refused for good fails alone', async () => {
    const { writeBack } = fakeDesk(['1', '2', '3'], {
      before: (call) => {
        if (call.startsWith('put 2')) throw failure(400);
      },
    });
    const results = await writeBack(three);
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
  });

  test('those after a used-up quota make no call, and get the same error', async () => {
    const { calls, writeBack } = fakeDesk(['1', '2', '3'], {
      before: (call) => {
        if (call.startsWith('put 2')) throw failure(429, 'transient');
      },
    });
    const [first, second, third] = await writeBack(three);
    expect(first).toMatchObject({ ok: true });
    expect(second).toMatchObject({ ok: false, why: 'error' });
    expect(third).toEqual(second);
    expect(calls.some((call) => call.startsWith('put 3'))).toBe(false);
  });

  test('one whose row fails in the bulk call keeps back no other, whatever kind its failure is of', async () => {
    const { rows, writeBack } = fakeDesk(['1', '2', '3'], { bulk: true, fails: { id: '2', kind: 'transient' } });
    const results = await writeBack(three);
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(rows.get('3')?.notes).toHaveLength(1);
  });

  test('two on one record are written one after the other', async () => {
    const { rows, writeBack } = fakeDesk(['1']);
    await writeBack([answer(), later]);
    expect(rows.get('1')?.fields.grade).toBe(3);
    expect(rows.get('1')?.notes).toHaveLength(2);
  });
});

describe('an erasure', () => {
  test('takes off fields, tags and notes, says what stays, and finds nothing the second time', async () => {
    const { rows, writeBack, forget } = fakeDesk(['1']);
    await writeBack([answer(), later]);
    expect(await forget(['1', '2'])).toEqual(['the history of record 1']);
    expect(rows.get('1')).toMatchObject({
      fields: { grade: null, comment: null, at: null, status: null },
      tags: ['vip'],
    });
    expect(rows.get('1')?.notes.join('')).toBe('');
    expect(await forget(['1'])).toEqual([]);
  });

  test('takes off many in one call, also on records that nothing is written on any more', async () => {
    const ids = ['1', '2', '3'];
    const { rows, calls, writeBack, forget } = fakeDesk(ids, { bulk: true, inTrash: ['2'] });
    const results = await writeBack(ids.map((recordId) => answer({ recordId, marker: `${recordId}.v1` })));
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    Object.assign(rows.get('2') ?? {}, { fields: { ...held } });
    calls.length = 0;
    await forget([...ids, '1']);
    expect(calls.filter((call) => /^(read|put)/.test(call))).toEqual(['read 1,2,3', 'put 1,2,3']);
    for (const { fields } of rows.values()) expect(fields).toMatchObject({ grade: null, comment: null });
  });

  test('of many says which record takes no change, and is tried again where that may help', async () => {
    const left = async (kind: 'permanent' | 'transient') => {
      const { rows, forget } = fakeDesk(['1', '2'], { bulk: true, fails: { id: '1', kind } });
      for (const row of rows.values()) row.fields = { ...held };
      return await forget(['1', '2']);
    };
    expect(await left('permanent')).toContain('the answer on record 1, which takes no change: take it off by hand');
    await expect(left('transient')).rejects.toMatchObject({ advice: { kind: 'transient' } });
  });

  test('says where notes stay, and what the vendor does not let go', async () => {
    const { writeBack, forget } = fakeDesk(['1'], { deletesNotes: false, swallows: ['none'] });
    await writeBack([answer()]);
    expect(await forget(['1'])).toContain('the notes on record 1: Desk deletes none');
  });
});

const outcome = fc.constantFrom('lost before', 'lost after', 'well');

/** Whatever is lost on the way, before or after the vendor has done it, the worker tries again until it is told of success. */
test('however often calls are lost, the record holds the newest answer, with one note for each version', async () => {
  const versions = fc.array(
    fc.record({ grade: fc.integer({ min: 1, max: 10 }), comment: fc.option(fc.constantFrom('a', 'b')) }),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(
      versions,
      fc.array(outcome, { maxLength: 12 }),
      fc.boolean(),
      async (answers, outcomes, silent) => {
        const fate: string[] = [];
        const lose = (when: string) => (call: string) => {
          if (!/^(put|note)/.test(call)) return;
          if (when === 'lost before') fate.unshift(outcomes.shift() ?? 'well');
          if (fate[0] === when) throw failure(0, 'transient');
        };
        const desk = fakeDesk(['1'], {
          before: lose('lost before'),
          after: lose('lost after'),
          ...(silent && { silent: true }),
        });
        for (const [n, version] of answers.entries()) {
          const answeredAt = new Date(Date.UTC(2026, 10, 20, 10, n));
          const item = answer({ ...version, answeredAt, marker: `7.v${n + 1}` });
          for (let tries = 0; ; tries++) {
            expect(tries).toBeLessThan(20);
            const [result] = await desk.writeBack([item]).catch((error: unknown) => {
              if (!(error instanceof CloseloopError)) throw error;
              return [undefined];
            });
            if (result?.ok) break;
          }
        }
        const row = desk.rows.get('1');
        const { grade, comment } = row?.fields ?? {};
        expect({ grade, comment: comment ?? null }).toEqual(answers.at(-1));
        expect(row?.notes.map(markerOf)).toEqual(answers.map((_, n) => `7.v${n + 1}`));
      },
    ),
  );
});

describe('an error that names fields', () => {
  const named = (...fields: string[]) => {
    const told = { ...permanent('refused', 'look at it'), advice: { kind: 'permanent' } as const };
    return new VendorError('Desk', { ...told, outcome: 'refused', status: 400, code: '' }, { fields });
  };
  const refusing = (error: VendorError, bulk: boolean) => {
    const held: Record<string, unknown> = {};
    const put = async ({ row, change: { values } }: ChangedRow<Row, string | number>) => {
      if ([...values.keys()].some((place) => place === 'grade' || error.fields.includes('other'))) throw error;
      Object.assign(held, Object.fromEntries(values));
      return { ...row, fields: held };
    };
    const putMany = async (changed: readonly ChangedRow<Row, string | number>[]) =>
      new Map(await Promise.all(changed.map(async (one) => [one.id, await put(one).catch(() => error)] as const)));
    const more = {
      tags: () => [],
      settings: { grade: 'grade', comment: 'comment' },
      ...(bulk ? { putMany } : { put }),
    };
    return { held, ...fakeDesk(['1'], { ...(bulk && { bulk }), more }) };
  };

  test.each([false, true])('is a refusal of these alone (bulk: %s)', async (bulk) => {
    const { held, writeBack } = refusing(named('grade', 'another'), bulk);
    const findings = ['Desk: "grade" takes no 9: look at its type, bounds and choices'];
    expect(await writeBack([answer()])).toEqual([{ ok: true, findings }]);
    expect(held).toEqual({ comment: 'fine' });
  });

  test('of which the answer has none is a refusal of the record', async () => {
    const { held, writeBack } = refusing(named('other'), false);
    expect(await writeBack([answer()])).toEqual([{ ok: true, findings: [expect.stringContaining('another field')] }]);
    expect(held).toEqual({});
  });

  test('never shows what the vendor wrote', () => {
    const error = named('My neighbour Tom');
    expect(JSON.stringify(error) + inspect(error)).not.toContain('Tom');
  });
});

describe('what a desk may declare beside', () => {
  test('a part that its place can not hold is told, and the rest is written', async () => {
    const refusal = new Refusal(['grade'], ['the grade 2.5 does not fit']);
    const { rows, writeBack } = fakeDesk(['1'], {
      more: { written: ({ part, value }) => (part === 'grade' ? refusal : String(value)) },
    });
    expect(await writeBack([answer({ grade: 2.5 })])).toEqual([{ ok: true, findings: ['the grade 2.5 does not fit'] }]);
    expect(rows.get('1')?.fields).toMatchObject({ comment: 'fine', status: 'answered' });
    expect(rows.get('1')?.fields).not.toHaveProperty('grade');
  });

  test('that nobody answered is written beside the answer to an earlier closing', async () => {
    const { rows, writeBack } = fakeDesk(['1'], { more: { keepsEarlier: true } });
    await writeBack([answer()]);
    const none = answer({
      status: 'no-answer',
      grade: null,
      comment: null,
      marker: '8.v0',
      answeredAt: later.answeredAt,
    });
    expect(await writeBack([none])).toEqual([{ ok: true, findings: [] }]);
    expect(rows.get('1')).toMatchObject({
      fields: { grade: 9, comment: 'fine', status: 'no-answer' },
      tags: ['vip', 'fb_answered', 'fb_grade_9', 'fb_no_answer'],
    });
    await writeBack([{ ...none, answeredAt: new Date('2026-11-20T09:00:00Z') }, later]);
    expect(rows.get('1')).toMatchObject({ fields: { grade: 3 }, tags: ['vip', 'fb_answered', 'fb_grade_3'] });
  });

  test('tags that the vendor takes off again are a remark', async () => {
    const { writeBack, rows } = fakeDesk(['1'], {
      more: {
        tagsGone: (tags) => `${tags.join()} went`,
        put: async ({ id }) => ({ ...(rows.get(id) ?? expect.fail('no row')), fields: held, tags: ['fb_answered'] }),
      },
    });
    const [result] = await writeBack([answer()]);
    expect(result).toEqual({ ok: true, findings: [], remarks: ['fb_grade_9 went'] });
  });

  test.each([
    ['without a look where none can be there', false, ['read 1', 'put 1 grade,comment,at,status']],
    ['after a look where one may be there', true, ['read 1', 'look 1', 'put 1 grade,comment,at,status']],
  ])('a note goes with the values, %s', async (_name, joins, expected) => {
    const { calls, rows, writeBack } = fakeDesk(['1'], { joins });
    expect(await writeBack([answer()])).toEqual([{ ok: true, findings: [] }]);
    expect(calls).toEqual(expected);
    expect(rows.get('1')?.notes.map(markerOf)).toEqual(['7.v1']);
  });

  test('a note that goes with the values is sent alone where the values are there, and once', async () => {
    const { calls, rows, writeBack } = fakeDesk(['1'], { joins: true });
    await writeBack([answer()]);
    rows.get('1')?.notes.splice(0);
    calls.length = 0;
    await writeBack([answer()]);
    await writeBack([answer()]);
    expect(calls).toEqual(['read 1', 'look 1', 'put 1 ', 'read 1', 'look 1']);
    expect(rows.get('1')?.notes).toHaveLength(1);
  });
});
