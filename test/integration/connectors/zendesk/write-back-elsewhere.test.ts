import { describe, expect, test } from 'vitest';
import type { WriteBack, WriteResult } from '../../../../core/connector/contract.ts';
import { adviceOf } from '../../../../core/errors.ts';
import type { ZendeskStandin } from '../../../../standins/zendesk/standin.ts';
import {
  account,
  answer,
  everything,
  ids,
  noAnswer,
  notes,
  written,
} from '../../../support/connectors/zendesk/account.ts';

const where = (result: WriteResult | undefined): unknown => (result?.ok ? (result.where ?? 'the record') : result?.why);

/** A user field for each part. */
function addUserFields(standin: ZendeskStandin): void {
  standin.addUserField({ key: 'last_grade', title: 'Last grade', type: 'decimal' });
  standin.addUserField({ key: 'last_comment', title: 'Last comment', type: 'textarea' });
  standin.addUserField({ key: 'last_answer', title: 'Last answer', type: 'date' });
}
const userFields = { grade: 'last_grade', comment: 'last_comment', answeredAt: 'last_answer' };

function addObject(standin: ZendeskStandin): void {
  standin.addCustomObject({
    key: 'feedback',
    fields: [
      { key: 'grade', type: 'integer' },
      { key: 'said', type: 'textarea' },
      { key: 'at', type: 'date' },
      { key: 'ticket', type: 'lookup' },
    ],
  });
}
const customObject = { object: 'feedback', grade: 'grade', comment: 'said', answeredAt: 'at', ticket: 'ticket' };

describe('the requester', () => {
  test('gets the answer as well, one call for a hundred, and none where nothing changes', async () => {
    const { standin, source, solved } = await account({ grade: ids.grade, userFields });
    addUserFields(standin);
    const people = Array.from({ length: 100 }, () => standin.addUser({ name: 'Somebody' }).id);
    const items = people.map((requesterId, index) => answer(solved({ requesterId }), { grade: index % 11 }));
    expect(await source.writeBack(items)).toEqual(items.map(() => written));
    expect(standin.user(people[7] ?? 0).userFields).toEqual({
      last_grade: 7,
      last_comment: 'Quick and kind',
      last_answer: `${items[7]?.answeredAt.toISOString().slice(0, 10)}T00:00:00+00:00`,
    });
    expect(standin.callCounts()).toMatchObject({
      'GET /api/v2/tickets/show_many': 2,
      'PUT /api/v2/tickets/update_many': 1,
      'PUT /api/v2/users/update_many': 1,
      'GET /api/v2/users/show_many': 1,
    });
    standin.clearCalls();
    expect(await source.writeBack(items)).toEqual(items.map(() => written));
    expect(standin.callCounts()).toEqual({ 'GET /api/v2/tickets/show_many': 1 });
  });

  test('keeps the newest answer of several tickets, whichever comes first', async () => {
    const { standin, source, solved, customer } = await account({ grade: ids.grade, userFields });
    addUserFields(standin);
    const [one, two, three] = [solved(), solved(), solved()];
    const at = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    await source.writeBack([
      answer(one, { grade: 5, answeredAt: at(3) }),
      answer(two, { grade: 8, answeredAt: at(1) }),
    ]);
    expect(standin.user(customer).userFields).toMatchObject({ last_grade: 8 });
    await source.writeBack([answer(three, { grade: 1, answeredAt: at(2) })]);
    expect(standin.user(customer).userFields).toMatchObject({ last_grade: 8 });
    expect(standin.ticket(three).fields).toEqual({ [ids.grade]: 1 });
  });

  test('is the one who was asked, whoever the ticket belongs to by now', async () => {
    const { standin, source, solved, customer } = await account({ userFields });
    addUserFields(standin);
    const other = standin.addUser({ name: 'Another' }).id;
    const id = solved({ requesterId: other });
    expect(await source.writeBack([answer(id, { personId: String(customer) })])).toEqual([written]);
    expect(standin.user(customer).userFields).toMatchObject({ last_grade: 9 });
    expect(standin.user(other).userFields).toMatchObject({ last_grade: null });
  });

  test('that is gone is a remark: the ticket has its answer', async () => {
    const { standin, source, solved } = await account({ grade: ids.grade, userFields });
    addUserFields(standin);
    const requesterId = standin.addUser({ name: 'Brief' }).id;
    const id = solved({ requesterId });
    standin.changeUser({ id: requesterId, active: false });
    expect(await source.writeBack([answer(id)])).toEqual([
      { ok: true, findings: [], remarks: ['the requester does not exist any more.'] },
    ]);
    expect(standin.ticket(id).fields).toEqual({ [ids.grade]: 9 });
  });

  test('with a dropdown that drops the value is a finding', async () => {
    const { standin, source, solved } = await account({ userFields: { grade: 'mood' } });
    standin.addUserField({ key: 'mood', type: 'dropdown', options: [{ name: 'Fine', value: 'fine' }] });
    const [result] = await source.writeBack([answer(solved())]);
    expect(result).toEqual({
      ok: true,
      findings: [
        expect.stringContaining('user field "mood" (writeBack.userFields.grade) has no option with the tag "9"'),
      ],
    });
  });

  test('of a field that does not exist stops the source before anything is sent', async () => {
    const { standin, source, solved } = await account({ userFields });
    const error = await source.writeBack([answer(solved())]).catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'config' });
    expect(String(error)).toContain('writeBack.userFields.grade: user field "last_grade" does not exist.');
    expect(standin.callCounts()['PUT /api/v2/users/update_many']).toBeUndefined();
  });

  test('is tried again when the outcome is unknown, and written once', async () => {
    const { standin, source, solved, customer } = await account({ ...everything, userFields });
    addUserFields(standin);
    const item = answer(solved());
    standin.faults.add({ path: 'users/update_many', then: 'work-then-cut' });
    const error = await source.writeBack([item]).catch((thrown: unknown) => thrown);
    expect(adviceOf(error).kind).toBe('transient');
    await standin.idle();
    expect(await source.writeBack([item])).toEqual([written]);
    expect(standin.user(customer).userFields).toMatchObject({ last_grade: 9 });
    expect(notes(standin, Number(item.recordId))).toHaveLength(1);
    expect(standin.callCounts()['PUT /api/v2/users/update_many']).toBe(1);
  });

  test('is written at most once a second over the whole account', async () => {
    const { standin, source, seen, solved } = await account({ userFields });
    addUserFields(standin);
    await source.writeBack([answer(solved())]);
    expect(seen.left).toContainEqual({ limit: 1, remaining: 1, resetMs: 1000, name: 'user-updates' });
  });
});

describe('a closed ticket', () => {
  const closedAccount = async (whenClosed: string[], more: object = {}) => {
    const parts = { userFields, customObject };
    const named = Object.fromEntries(Object.entries(parts).filter(([name]) => whenClosed.includes(name)));
    // Every look at the clock is a second later: users may be updated once in that time.
    let clock = Date.now() - 3_600_000;
    const now = (): Date => {
      clock += 1000;
      return new Date(clock);
    };
    const given = await account({ ...everything, whenClosed, ...named, ...more }, { now });
    addUserFields(given.standin);
    addObject(given.standin);
    const id = given.solved();
    await given.standin.close(id);
    const write = (more: Partial<WriteBack> = {}) => given.source.writeBack([answer(id, more)]);
    return { ...given, id, write };
  };
  const edited = 'the closed ticket, without a note';
  const onUser = "the requester's user fields, as the ticket is closed";
  const onRecord = 'a record of the custom object, as the ticket is closed';

  const rows: [name: string, steps: string[], canEdit: boolean, expected: string, record: boolean][] = [
    ['is parked where nothing is configured', [], true, 'closed', false],
    ['is edited where the account allows it', ['edit'], true, edited, false],
    ['is parked where it does not', ['edit'], false, 'closed', false],
    ['is edited first where that comes first', ['edit', 'userFields'], true, edited, false],
    ['falls back on the requester', ['edit', 'userFields', 'customObject'], false, onUser, false],
    ['falls back on a record', ['edit', 'customObject'], false, onRecord, true],
    ['goes to the first place that takes it', ['customObject', 'edit'], true, onRecord, true],
  ];
  test.each(rows)('%s', async (_name, steps, canEdit, expected, record) => {
    const { standin, id, write } = await closedAccount(steps);
    standin.changeSettings({ modifyClosedTickets: canEdit });
    expect((await write()).map(where)).toEqual([expected]);
    expect(standin.objectRecords('feedback').map(({ fields }) => fields.grade)).toEqual(record ? [9] : []);
    expect(standin.ticket(id).fields[ids.grade]).toBe(expected === edited ? 9 : undefined);
    expect(notes(standin, id)).toEqual([]);
    expect(standin.ticket(id).ticket).toMatchObject({ status: 'closed' });
  });

  test('that can be edited by admins alone is parked for an agent, who learns what to do', async () => {
    const { standin, write } = await closedAccount(['edit']);
    standin.changeSettings({ modifyClosedTickets: true, apiRole: 'agent' });
    const [result] = await write();
    expect(result).toMatchObject({
      ok: false,
      why: 'closed',
      message: expect.stringContaining('the integration user an admin'),
    });
  });

  test.each([[['edit']], [['userFields']], [['customObject']]])(
    'is written once by %j, however often',
    async (steps) => {
      const { standin, write } = await closedAccount(steps);
      standin.changeSettings({ modifyClosedTickets: true });
      await write();
      standin.clearCalls();
      expect((await write()).map(({ ok }) => ok)).toEqual([true]);
      expect(Object.keys(standin.callCounts()).filter((call) => !call.startsWith('GET'))).toEqual([]);
    },
  );

  test.each([[['edit']], [['userFields']], [['customObject']]])('keeps the newer answer by %j', async (steps) => {
    const { standin, id, customer, write } = await closedAccount(steps);
    standin.changeSettings({ modifyClosedTickets: true });
    const held = (): unknown[] => [
      standin.ticket(id).fields[ids.grade],
      standin.user(customer).userFields.last_grade,
      standin.objectRecords('feedback')[0]?.fields.grade,
    ];
    await write();
    await write({ marker: 'v2', grade: 3, answeredAt: new Date(Date.now() + 120_000) });
    expect(held()).toContain(3);
    expect(held()).not.toContain(9);
    await write({ marker: 'v1', grade: 10, answeredAt: new Date(Date.now() - 3 * 86_400_000) });
    expect(held()).toContain(3);
    expect(held()).not.toContain(10);
  });

  test.each([[[]], [['customObject']]])(
    'that holds its answer is left as it is, whatever may take others: %j',
    async (steps) => {
      const { standin, source, solved } = await account({
        ...everything,
        whenClosed: steps,
        ...(steps.length > 0 && { customObject }),
      });
      addObject(standin);
      const id = solved();
      await source.writeBack([answer(id)]);
      await standin.close(id);
      expect(await source.writeBack([answer(id)])).toEqual([written]);
      const older = answer(id, { grade: 1, marker: 'older', answeredAt: new Date(Date.now() - 9 * 86_400_000) });
      expect(await source.writeBack([older])).toMatchObject([
        { ok: true, unwritten: expect.stringContaining('newer') },
      ]);
      expect(standin.objectRecords('feedback')).toEqual([]);
    },
  );

  test('takes no note, so that an answer which is a note alone is parked', async () => {
    const { standin, source, solved } = await account({ note: true, whenClosed: ['edit'] });
    standin.changeSettings({ modifyClosedTickets: true });
    const id = solved({ status: 'closed' });
    expect((await source.writeBack([answer(id)])).map(where)).toEqual(['closed']);
  });

  test('names its ticket on the record', async () => {
    const { standin, id, write } = await closedAccount(['customObject']);
    await write();
    expect(standin.objectRecords('feedback')).toMatchObject([
      {
        externalId: `ticket-${id}`,
        name: `Feedback on ticket ${id}`,
        fields: { said: 'Quick and kind', ticket: String(id) },
      },
    ]);
  });

  test('whose custom object does not exist stops the source', async () => {
    const { write } = await closedAccount(['customObject'], { customObject: { object: 'nothing', grade: 'grade' } });
    const error = await write().catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'config' });
    expect(String(error)).toContain('there is no custom object "nothing"');
  });

  test('does not pass a failure that may pass on to the next place', async () => {
    const { standin, write } = await closedAccount(['customObject', 'edit']);
    standin.changeSettings({ modifyClosedTickets: true });
    standin.faults.add({ path: 'feedback/records', status: 429, headers: { 'retry-after': '5' }, body: 'slow down' });
    const error = await write().catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'transient', retryAfterMs: 5000, throttled: true });
    expect((await write()).map(where)).toEqual([onRecord]);
  });

  test('whose requester was perhaps written is not written anywhere else', async () => {
    const { standin, write } = await closedAccount(['userFields', 'customObject']);
    const job_status = { id: 'job', status: 'killed', results: null };
    standin.faults.add({ path: 'users/update_many', status: 200, body: { job_status } });
    const [result] = await write();
    expect(result).toMatchObject({
      ok: false,
      why: 'error',
      error: { advice: { kind: 'transient' }, outcome: 'unknown' },
    });
    expect(standin.objectRecords('feedback')).toEqual([]);
    expect((await write()).map(where)).toEqual([onUser]);
  });

  test('that closes while the job is queued falls back as well; the others of the batch are written', async () => {
    const { standin, source, solved } = await account(
      { ...everything, whenClosed: ['userFields'], userFields },
      { jobs: { queuedMs: 50, workingMs: 0 } },
    );
    addUserFields(standin);
    const [good, closing] = [solved(), solved()];
    const writing = source.writeBack([answer(good), answer(closing)]);
    await expect.poll(() => standin.callCounts()['PUT /api/v2/tickets/update_many']).toBe(1);
    await standin.close(closing);
    expect((await writing).map(where)).toEqual(['the record', onUser]);
  });

  test('is told by the ticket, never by the words of a refusal', async () => {
    const { standin, source, solved } = await account({ grade: ids.grade, whenClosed: ['userFields'], userFields });
    addUserFields(standin);
    const id = solved();
    // A 422 in Portuguese that names neither closing nor fields: the ticket is open, so the refusal is a refusal.
    const results = [{ id, success: false, error: 'RecordInvalid', details: 'Estado: fechado impede a atualização' }];
    const job_status = { id: 'job', status: 'completed', results };
    standin.faults.add({ path: 'tickets/update_many', status: 200, body: { job_status } });
    const [result] = await source.writeBack([answer(id)]);
    expect(result).toMatchObject({ ok: false, why: 'error', error: { advice: { kind: 'permanent' } } });
  });
});

describe('that nobody answered', () => {
  test('goes nowhere but on the ticket', async () => {
    const steps = ['userFields', 'customObject'];
    const { standin, source, solved } = await account({
      tags: true,
      noAnswer: true,
      userFields,
      customObject,
      whenClosed: steps,
    });
    addUserFields(standin);
    addObject(standin);
    const id = solved();
    await standin.close(id);
    expect((await source.writeBack([noAnswer(id)])).map(where)).toEqual(['closed']);
    expect(standin.objectRecords('feedback')).toEqual([]);
  });
});
