import { afterEach, describe, expect, test } from 'vitest';
import type { PollPage, Source, SourceEvent } from '../../../../core/connector/contract.ts';
import { actOnce } from '../../../support/act-once.ts';
import {
  answerFields,
  fixtures,
  type OpenAccount,
  openAccount,
  places,
} from '../../../support/connectors/freshdesk/account.ts';
import { preflight } from '../../../support/connectors/vendor-account.ts';
import { answer } from '../../../support/contract/bench.ts';

/* What surprises at Freshdesk, by the sections of the facts. What every connector has to do is in the contract suite. */

let account: OpenAccount;
afterEach(() => account.close());

const grade = (id: string) => account.standin.ticket(Number(id)).values[places.grade];
const notesOn = (id: string) => account.standin.ticket(Number(id)).conversations.length;
async function polled(source: Source, since = new Date('2026-11-20T11:00:00Z')): Promise<SourceEvent[]> {
  const found: SourceEvent[] = [];
  for (let from: Parameters<NonNullable<Source['poll']>>[0] = { since }; ; ) {
    const page: PollPage = (await source.poll?.(from)) ?? expect.fail('no poll');
    found.push(...page.events);
    if (page.done) return found;
    from = { cursor: page.cursor };
  }
}

describe('access (1)', () => {
  test('it tells that a key of a group’s agent does not see a ticket, of that ticket alone', async () => {
    account = await openAccount();
    const [own] = [...account.standin.agents.values()];
    const group = account.standin.addGroup({ name: 'Support' });
    account.standin.changeAgent({ id: own?.id ?? 0, scope: 2 });
    Object.assign(own ?? {}, { groupIds: [group.id] });
    const ids = [await account.ticket(), await account.ticket({ groupId: group.id })];
    const [hidden, seen] = await account.source.read(ids);
    expect(hidden).toMatchObject({ ok: false, error: { advice: { kind: 'permanent' } } });
    expect(seen).toMatchObject({ ok: true });
  });

  test('it never follows a redirect with the key', async () => {
    account = await openAccount();
    const id = await account.ticket();
    account.standin.faults.add({ status: 301, headers: { location: `${account.url}/api/v2/tickets/${id}` }, times: 9 });
    await expect(account.source.read([id])).rejects.toMatchObject({ advice: { kind: 'config' } });
    expect(account.standin.totalCalls()).toBe(0);
  });
});

describe('webhooks (2)', () => {
  test('it keeps apart two closings of which the rule tells no time, once they are a minute apart', async () => {
    account = await openAccount();
    const body = fixtures.webhooks.find(({ name }) => name === 'no secret header')?.body ?? '';
    const keyAt = async (receivedAt: Date) => {
      const found = await account.source.events({
        method: 'POST',
        url: 'x',
        headers: {},
        raw: Buffer.from(body),
        receivedAt,
      });
      return found.ok ? found.events[0]?.key : undefined;
    };
    const first = await keyAt(new Date('2026-11-20T12:00:10Z'));
    expect(await keyAt(new Date('2026-11-20T12:00:50Z'))).toBe(first);
    expect(await keyAt(new Date('2026-11-20T12:01:10Z'))).not.toBe(first);
  });

  test('it finds by the poll what a rule could not deliver for lack of credits', async () => {
    account = await openAccount();
    account.standin.changeSettings({ limits: { total: 1, list: 9, update: 9 } });
    account.standin.setWebhook({ url: 'http://127.0.0.1:9/hooks/desk', secret: 'x' });
    account.standin.changeSender({ pauseScale: 0 });
    await account.ticket();
    const id = await account.ticket();
    expect(account.standin.rules.waiting).toHaveLength(1);
    account.standin.changeSettings({ limits: { total: 99, list: 9, update: 9 } });
    expect((await polled(account.source)).map((event) => event.kind === 'closed' && event.recordId)).toContain(id);
  });
});

describe('life cycle (3)', () => {
  test('it takes resolved and then closed by a rule for one closing', async () => {
    account = await openAccount();
    const id = await account.ticket();
    const closing = async () => {
      const [read] = await account.source.read([id]);
      return read?.ok && read.record.state.is === 'closed' ? read.record.state.closing : undefined;
    };
    const first = await closing();
    account.later(48 * 3_600_000);
    await account.standin.setStatus({ id: Number(id), status: 5, by: 'system' });
    expect([await closing(), first]).toEqual([first, '2026-11-20T12:00:00.000Z']);
  });

  test.each([
    ['resolved', 1],
    ['status', 2],
  ])('where Freshdesk keeps the first resolution, closingBy: %s tells %d closings', async (closingBy, count) => {
    account = await openAccount({ closingBy });
    account.standin.changeSettings({ keepsStats: true });
    const id = await account.ticket();
    const first = await polled(account.source);
    account.later(600_000);
    await account.standin.reopen(Number(id));
    account.later(600_000);
    await account.standin.resolve(Number(id));
    const keys = [...first, ...(await polled(account.source))].map(({ key }) => key);
    expect(new Set(keys).size).toBe(count);
  });
});

describe('reading (4)', () => {
  test('it reads closings together by one list, and singly what the list lacks', async () => {
    account = await openAccount();
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) ids.push(await account.ticket());
    account.standin.changeTicket({ id: Number(ids[3]), is: 'deleted' });
    account.standin.clearCalls();
    const read = await account.source.read(ids, account.clock.now);
    expect(read.map((one) => one.ok && one.record.state.is)).toEqual(ids.map((_, at) => (at === 3 ? 'out' : 'closed')));
    expect(account.standin.callCounts()).toMatchObject({ 'GET /api/v2/tickets': 1, 'GET /api/v2/tickets/{id}': 1 });
  });

  test('it reads by lists what many changed in one second, the second half of it as well', async () => {
    account = await openAccount();
    const ids: string[] = [];
    for (let n = 0; n < 250; n++) ids.push(await account.ticket());
    account.standin.clearCalls();
    const read = await account.source.read(ids.slice(150), account.clock.now);
    expect(read.filter(({ ok }) => ok)).toHaveLength(100);
    expect(account.standin.callCounts()).toMatchObject({ 'GET /api/v2/tickets': 4 });
    expect(account.standin.totalCalls()).toBe(6);
  });

  test('it finds all closings of a poll over many pages while rows move', async () => {
    account = await openAccount();
    const ids: string[] = [];
    for (let n = 0; n < 250; n++) {
      ids.push(await account.ticket());
      account.later(1_000);
    }
    const found: SourceEvent[] = [];
    for (let from: Parameters<NonNullable<Source['poll']>>[0] = { since: new Date('2026-11-20T11:00:00Z') }; ; ) {
      const page: PollPage = (await account.source.poll?.(from)) ?? expect.fail('no poll');
      found.push(...page.events);
      if (page.done) break;
      from = { cursor: page.cursor };
      // A row of the first page moves to the end, and all others one up.
      account.standin.changeTicket({ id: Number(ids[5]) });
    }
    expect(new Set(found.map((event) => event.kind === 'closed' && event.recordId))).toEqual(new Set(ids));
  });
});

describe('writing (5)', () => {
  test('it leaves the fields alone where a required field of somebody else is empty, says so, and adds the note', async () => {
    account = await openAccount({ writeBack: { ...places, note: true, tags: true } });
    account.standin.addField({ name: 'type', type: 'default_type', isRequired: true });
    const id = await account.ticket({ type: null });
    const [result] = await account.source.writeBack([answer(id)]);
    expect(result).toMatchObject({
      ok: true,
      findings: expect.arrayContaining([expect.stringMatching(/required field/)]),
    });
    expect([grade(id), notesOn(id), account.standin.ticket(Number(id)).tags]).toEqual([undefined, 1, []]);
  });

  test.each([
    ['of a type that takes no text', 'custom_checkbox', /"cf_feedback_comment" takes no such text/],
    ['that is gone', undefined, undefined],
  ])('it writes the grade past a field %s, or stops the source', async (_what, type, told) => {
    account = await openAccount();
    if (type === undefined) account.standin.removeField({ name: places.comment });
    else account.standin.addField({ name: places.comment, type });
    const id = await account.ticket();
    const writing = account.source.writeBack([answer(id)]);
    if (told === undefined)
      return expect(await writing).toMatchObject([{ ok: false, why: 'error', error: { advice: { kind: 'config' } } }]);
    expect(await writing).toMatchObject([{ ok: true, findings: [expect.stringMatching(told)] }]);
    expect(grade(id)).toBe(7);
  });

  test('it keeps the tags of others, in place of which Freshdesk takes all', async () => {
    account = await openAccount({ writeBack: { ...places, tags: true } });
    const id = await account.ticket({ tags: ['vip', 'fb_grade_1'] });
    await account.source.writeBack([answer(id)]);
    expect(account.standin.ticket(Number(id)).tags).toEqual(['vip', 'fb_answered', 'fb_grade_7']);
  });

  test.each([
    ['archived', /archived/],
    ['deleted', /trash/],
    ['spam', /spam/],
  ] as const)('it tells that a ticket is %s', async (is, why) => {
    account = await openAccount();
    const id = await account.ticket();
    account.standin.changeTicket({ id: Number(id), is });
    expect(await account.source.writeBack([answer(id)])).toMatchObject([
      { ok: false, why: 'closed', message: expect.stringMatching(why) },
    ]);
  });

  test('an answer that needs nothing of the ticket is one call, and a later one without a comment takes the earlier off', async () => {
    account = await openAccount({ writeBack: { grade: places.grade, comment: places.comment } });
    const ids = [await account.ticket(), await account.ticket()];
    account.standin.clearCalls();
    await account.source.writeBack(ids.map((id) => answer(id)));
    expect(account.standin.callCounts()).toEqual({ 'PUT /api/v2/tickets/{id}': 2, 'GET /api/v2/ticket_fields': 1 });
    await account.source.writeBack([answer(ids[0] ?? '', { comment: null, marker: 'j7.2' })]);
    expect(account.standin.ticket(Number(ids[0])).values).toEqual({ [places.grade]: 7, [places.comment]: null });
    expect(await account.source.writeBack([answer('999')])).toMatchObject([{ ok: false, why: 'not-found' }]);
  });
});

describe('echo (6) and ratings (8)', () => {
  test('a ticket that our write has moved keeps the key of its closing', async () => {
    account = await openAccount();
    const id = await account.ticket();
    const before = (await polled(account.source)).map(({ key }) => key);
    account.later(60_000);
    await account.source.writeBack([answer(id)]);
    expect((await polled(account.source)).map(({ key }) => key)).toEqual(before);
  });

  test('its own ratings become grades by the table, and others are left out', async () => {
    account = await openAccount({ ratings: { 103: 5, '-103': 1 } });
    const id = await account.ticket();
    for (const value of [103, 100, -103]) account.standin.rate({ ticketId: Number(id), value, feedback: 'fine' });
    const grades = (await polled(account.source)).flatMap((event) =>
      event.kind === 'external-grade' ? [event.grade] : [],
    );
    expect(grades).toEqual([5, 1]);
  });
});

describe('limits and errors (9, 10)', () => {
  test('it waits a minute after a 429 that says nothing', async () => {
    account = await openAccount();
    const id = await account.ticket();
    account.standin.changeSettings({ bare429: true, limits: { total: 1, list: 9, update: 9 } });
    await expect(account.source.read([id])).rejects.toMatchObject({ advice: { kind: 'transient', throttled: true } });
    expect(account.asked.pauses).toEqual([60_000]);
  });

  // Those of one write, as their bodies are.
  test.each(fixtures.errors.filter(({ name }) => !/page beyond|plan lacks|email/.test(name)))(
    'it makes of "$name" what the facts advise: $advice',
    async ({ name, status, body, body_text, headers = {}, advice }) => {
      account = await openAccount({ writeBack: { grade: 'cf_feedback_grade' } });
      const id = await account.ticket();
      account.standin.faults.add({ method: 'PUT', times: 9, status, headers, body: body ?? body_text ?? '' });
      const result = await account.source.writeBack([answer(id)]).catch((error: unknown) => error);
      const told = JSON.stringify(result) + JSON.stringify((result as { advice?: unknown }).advice ?? {});
      // One ticket may be beyond the agent's scope, and a field that is not ours be read-only: neither stops the others.
      const milder = new Map([
        ['not allowed', /permanent/],
        ['read-only', /findings":\["/],
      ]).get(name);
      const expected = [
        [/^not-found/, /not-found/],
        [/^out/, /"why":"closed"/],
        [/^throttled/, /"throttled":true/],
        [/^transient/, /transient/],
        [/finding/, /findings":\["/],
        [/^permanent/, /required|permanent/],
        [/^config/, /config|takes no/],
      ] as const;
      expect(told).toMatch(milder ?? expected.find(([of]) => of.test(advice))?.[1] ?? /nothing/);
    },
  );
});

describe('check and setup (11)', () => {
  test('it says which name a field got', async () => {
    account = await openAccount();
    account.standin.changeSettings({ suffixes: true });
    account.standin.removeField({ name: places.grade });
    const steps = (await account.source.setup?.(preflight)) ?? [];
    const notes = await Promise.all(steps.map(async (step) => (await step.apply()).note));
    expect(notes.filter(Boolean)).toEqual([expect.stringContaining('cf_feedback_grade297457')]);
  });

  test('it takes a rule whose headers are hidden for its own, and warns of Freshdesk’s own survey', async () => {
    account = await openAccount();
    const { source, standin } = account;
    for (const step of (await source.setup?.(preflight)) ?? []) await step.apply();
    standin.changeSettings({ hidesHeaders: true });
    expect(await source.check?.(preflight)).toEqual([]);
    standin.rate({ ticketId: 1, value: 103 });
    expect(await source.check?.(preflight)).toMatchObject([{ level: 'warning', at: 'ratings' }]);
    standin.changeSettings({ surveys: false });
    expect(await source.check?.(preflight)).toEqual([]);
    expect(answerFields).toHaveLength(4);
  });
});

describe('actions', () => {
  test('it reopens a ticket into a group, once', async () => {
    account = await openAccount();
    const group = account.standin.addGroup({ name: 'Escalations' });
    const id = await account.ticket();
    const request = {
      recordId: id,
      closing: '',
      marker: 'j1.a',
      name: 'reopen',
      params: { group: 'Escalations' },
      again: false,
    };
    expect(await actOnce(account.source, request)).toMatchObject({
      ok: true,
      done: 'reopened, in the group Escalations',
    });
    expect(account.standin.ticket(Number(id))).toMatchObject({ status: 2, groupId: group.id });
    expect(await actOnce(account.source, { ...request, again: true })).toMatchObject({ done: 'it was open already' });
    const flawed = [{ at: 'rules', name: 'reopen', params: { group: 'Nobody' } }];
    expect(await account.source.checkActions?.(flawed)).toHaveLength(1);
  });
});
