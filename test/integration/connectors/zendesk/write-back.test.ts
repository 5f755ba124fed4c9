import { describe, expect, test } from 'vitest';
import { adviceOf } from '../../../../core/errors.ts';
import {
  account,
  answer,
  everything,
  ids,
  noAnswer,
  notes,
  written,
} from '../../../support/connectors/zendesk/account.ts';

describe('fields', () => {
  test('may be named by their titles', async () => {
    const { standin, source, solved } = await account({ grade: 'Grade', comment: 'Comment', answeredAt: 'Answered' });
    const id = solved();
    expect(await source.writeBack([answer(id)])).toEqual([written]);
    expect(standin.ticket(id).fields).toMatchObject({ [ids.grade]: 9, [ids.comment]: 'Quick and kind' });
  });

  test('named by a title that two have stop the source; made unique they are written, without a restart', async () => {
    const { standin, source, solved } = await account({ grade: 'Points' });
    const two = [1, 2].map(() => standin.addTicketField({ title: 'Points', type: 'integer' }));
    const id = solved();
    const error = await source.writeBack([answer(id)]).catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'config' });
    expect(String(error)).toContain('writeBack.grade: ticket field "Points" exists 2 times. Give its id');
    const [first, second] = two;
    if (first === undefined || second === undefined) throw new Error('no fields');
    second.active = false;
    expect(await source.writeBack([answer(id)])).toEqual([written]);
    expect(standin.ticket(id).fields).toEqual({ [first.id]: 9 });
  });
});

describe('an answer', () => {
  test('to a follow-up ticket replaces the marks inherited from its parent', async () => {
    const { standin, source, solved } = await account({ grade: ids.grade, tags: true, note: true });
    const parent = solved({ tags: ['vip'] });
    await source.writeBack([answer(parent)]);
    await standin.close(parent);
    const { id } = standin.followUp(parent);
    await standin.solve(id);
    const [read] = await source.read([String(id)]);
    expect(read).toMatchObject({ record: { state: { is: 'closed', closing: 'r0' } } });
    expect(await source.writeBack([answer(id, { grade: 2 })])).toEqual([written]);
    expect(standin.ticket(id).tags.sort()).toEqual(['fb_answered', 'fb_grade_2', 'vip']);
    expect(notes(standin, id)).toEqual([`closeloop ref j${id}.1`]);
  });

  test('has a note that is known by its metadata, also when an agent redacts its text', async () => {
    const { standin, source, solved } = await account({ tags: true, note: true });
    const id = solved();
    await source.writeBack([answer(id)]);
    const audits = standin.ticket(id).audits;
    expect(JSON.stringify(audits)).toContain(`"custom":{"closeloop_ref":"j${id}.1"}`);
    standin.redact(id, 'closeloop ref');
    expect(await source.writeBack([answer(id)])).toEqual([written]);
    expect(notes(standin, id)).toHaveLength(0);
  });
});

describe('that nobody answered', () => {
  test('is written on the ticket without clearing an earlier answer, without a note, and goes when an answer comes', async () => {
    const { standin, source, solved } = await account({ ...everything, noAnswer: true, status: 'State' });
    standin.addTicketField({ id: 360009, title: 'State', type: 'text' });
    expect(source.writesNoAnswer).toBe(true);
    const id = solved({ customFields: { [ids.grade]: 7 } });
    expect(await source.writeBack([noAnswer(id)])).toEqual([written]);
    expect(standin.ticket(id)).toMatchObject({
      tags: ['fb_no_answer'],
      fields: { 360009: 'no answer', [ids.grade]: 7 },
    });
    expect(notes(standin, id)).toEqual([]);
    expect(await source.writeBack([answer(id)])).toEqual([written]);
    expect(standin.ticket(id).tags.sort()).toEqual(['fb_answered', 'fb_grade_9']);
    expect(standin.ticket(id).fields).toMatchObject({ 360009: 'answered', [ids.grade]: 9 });
  });
});

describe('a field that was retired after the start', () => {
  const retired: [what: string, writeBack: object, says: string][] = [
    ['a ticket field', { grade: 360_099 }, 'writeBack.grade: ticket field 360099 is inactive.'],
    [
      'a user field',
      { userFields: { grade: 'last_grade' } },
      'writeBack.userFields.grade: user field "last_grade" is inactive.',
    ],
    [
      'a field of a custom object',
      { grade: ids.grade, whenClosed: ['customObject'], customObject: { object: 'feedback', grade: 'grade' } },
      'writeBack.customObject.grade: field "grade" of the custom object "feedback" is inactive.',
    ],
  ];
  test.each(retired)(
    '%s stops the source, by its name and with what to do (audit 36)',
    async (what, writeBack, says) => {
      let now = Date.now();
      const { standin, source, solved } = await account(writeBack, { now: () => new Date(now) });
      const { fields } = standin.addCustomObject({ key: 'feedback', fields: [{ key: 'grade', type: 'integer' }] });
      const ticketField = standin.addTicketField({ id: 360_099, title: 'Mine', type: 'integer' });
      const userField = standin.addUserField({ key: 'last_grade', title: 'Last grade', type: 'decimal' });
      const status = what.includes('object') ? 'closed' : 'solved';
      expect(await source.writeBack([answer(solved({ status }))])).toMatchObject([{ ok: true, findings: [] }]);
      for (const field of [ticketField, userField, ...fields]) field.active = false;
      now += 60_000; // its limits of calls a minute
      const requesterId = standin.addUser({ name: 'Other', email: 'other@example.com' }).id;
      const writing = source.writeBack([answer(solved({ status, requesterId }))]);
      const error = await writing.catch((thrown: unknown) => thrown);
      expect(String(error)).toContain(says);
      expect(String(error)).toContain('"closeloop check"');
      expect(adviceOf(error)).toEqual({ kind: 'config' });
    },
  );

  test('tags that a trigger took off again are a remark, not something to be mended (audit 36)', async () => {
    const { standin, source, solved } = await account({ tags: true });
    standin.addTrigger({
      title: 'act upon the answer',
      conditions: { all: [{ field: 'current_tags', operator: 'includes', value: 'fb_answered' }], any: [] },
      actions: [{ field: 'remove_tags', value: 'fb_answered' }],
    });
    const [result] = await source.writeBack([answer(solved())]);
    expect(result).toMatchObject({ ok: true, findings: [] });
  });
});
