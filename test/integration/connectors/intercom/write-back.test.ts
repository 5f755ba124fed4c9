import { afterEach, beforeEach, expect, test } from 'vitest';
import { answer, openWorkspace, type Workspace } from '../../../support/connectors/intercom/workspace.ts';

let workspace: Workspace;
beforeEach(async () => {
  workspace = await openWorkspace();
});
afterEach(() => workspace.close());

const write = async (...items: ReturnType<typeof answer>[]) => {
  workspace.later();
  return await workspace.source.writeBack(items);
};
const stateOf = async (id: string) => {
  const [result] = await workspace.source.read([id]);
  return result?.ok ? result.record.state : result?.why;
};
const one = (id: string) => workspace.standin.conversation(id);

test('it writes attributes and a note, and a second time nothing', async () => {
  const id = await workspace.closed();
  expect(await write(answer(id))).toEqual([{ ok: true, findings: [] }]);
  expect(one(id)).toMatchObject({
    state: 'closed',
    values: { 'Feedback grade': 4, 'Feedback comment': 'Quick & <b>good</b>', 'Feedback date': 1_795_177_800 },
    notes: [expect.stringContaining('<p>Quick &amp; &lt;b&gt;good&lt;/b&gt;</p>')],
  });
  workspace.standin.clearCalls();
  await write(answer(id));
  expect(workspace.standin.callCounts()).toEqual({ 'POST /conversations/search': 1, 'GET /conversations/{id}': 1 });
  expect(one(id).notes).toHaveLength(1);
});

test('it leaves the rest for later after a failure that is not about one record', async () => {
  const ids = [await workspace.closed(), await workspace.closed(), await workspace.closed()];
  workspace.standin.faults.add({ method: 'PUT', path: ids[1] ?? '', status: 503 });
  const results = await write(...ids.map((id) => answer(id)));
  expect(results.map(({ ok }) => ok)).toEqual([true, false, false]);
  expect(one(ids[2] ?? '').values).toEqual({});
});

test('it cuts a long comment, and leaves it whole in the note', async () => {
  const id = await workspace.closed();
  const comment = 'long '.repeat(400);
  expect(await write(answer(id, { comment }))).toEqual([{ ok: true, findings: [] }]);
  expect(String(one(id).values['Feedback comment']).length).toBeLessThanOrEqual(1_000);
  expect(one(id).notes[0]).toContain(comment.trim());
});

test.each(['honoured', 'reopens', 'stubborn'] as const)(
  'it leaves a closed ticket closed, with its closing, where a write is %s',
  async (ticketWrites) => {
    workspace.standin.changeSettings({ ticketWrites });
    const id = await workspace.closedTicket();
    const before = await stateOf(id);
    expect(await write(answer(id))).toEqual([{ ok: true, findings: [] }]);
    expect(one(id)).toMatchObject({ state: 'closed', ticket: { values: { 'Feedback grade': 4 } }, values: {} });
    expect(one(id).notes).toHaveLength(1);
    expect(await stateOf(id)).toEqual(before);
  },
);

test('it leaves an open ticket open', async () => {
  const id = await workspace.closedTicket();
  await workspace.standin.reopen({ id });
  await write(answer(id));
  expect(one(id).state).toBe('open');
});

test('it writes on the conversation of a ticket, where it is told to', async () => {
  const id = await workspace.closedTicket();
  const { source } = workspace.open({ writeBack: { grade: 'Feedback grade', tickets: 'conversation' } });
  expect(await source.writeBack([answer(id)])).toEqual([{ ok: true, findings: [] }]);
  expect(one(id)).toMatchObject({ values: { 'Feedback grade': 4 }, ticket: { values: {} } });
});

test('what one ticket type lacks is a finding, and stops nobody else', async () => {
  const ids = [await workspace.closedTicket({ type: 'Bug' }), await workspace.closed()];
  const [ticket, conversation] = await write(...ids.map((id) => answer(id)));
  expect(ticket).toMatchObject({ ok: true, findings: [expect.stringContaining('"Bug"')] });
  expect(conversation).toEqual({ ok: true, findings: [] });
});

const refusals: [says: string, status: number, code: string][] = [
  ['422 type_mismatch', 422, 'type_mismatch'],
  ['400 parameter_invalid', 400, 'parameter_invalid'],
];
test.each(refusals)(
  'a grade that its attribute does not take keeps out no other part, and no other answer: %s',
  async (_, status, code) => {
    const ids = [await workspace.closed(), await workspace.closed()] as const;
    const body = { type: 'error.list', errors: [{ code, message: 'Wrong type of a value' }] };
    workspace.standin.faults.add({ method: 'PUT', path: ids[0], status, body });
    const [half, whole] = await write(answer(ids[0], { grade: 2.5 }), answer(ids[1]));
    const problem =
      'the attribute "Feedback grade" of conversations is of type integer, not decimal, which the grades 2.5 need';
    expect(half).toEqual({ ok: true, findings: [`${problem}. Name another attribute.`] });
    expect(one(ids[0]).values).toMatchObject({ 'Feedback comment': 'Quick & <b>good</b>' });
    expect(whole).toEqual({ ok: true, findings: [] });
  },
);

test('an attribute that conversations lack stops the source', async () => {
  const id = await workspace.closed();
  workspace.standin.removeAttributes();
  expect(await write(answer(id))).toMatchObject([{ ok: false, error: { advice: { kind: 'config' } } }]);
});

test('it stops for a person where its teammate has left: the record is not gone', async () => {
  const id = await workspace.closed();
  workspace.standin.removeAdmin('7700001');
  expect(await write(answer(id))).toMatchObject([{ ok: false, why: 'error', error: { advice: { kind: 'config' } } }]);
});

test('it forgets attributes and notes, of tickets too, and says what stays', async () => {
  const ids = [await workspace.closed(), await workspace.closedTicket()];
  await write(...ids.map((id) => answer(id)));
  const left = await workspace.source.forget?.([...ids, '999', 'no id']);
  expect(left).toHaveLength(2);
  for (const id of ids) expect(one(id)).toMatchObject({ state: 'closed', values: {}, notes: [] });
  expect(one(ids[1] ?? '').ticket?.values).toEqual({});
});
