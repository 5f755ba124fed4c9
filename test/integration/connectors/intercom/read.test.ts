import { afterEach, beforeEach, expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../../../support/connectors/intercom/workspace.ts';

let workspace: Workspace;
beforeEach(async () => {
  workspace = await openWorkspace();
});
afterEach(() => workspace.close());

const read = async (id: string, more: object = {}) => {
  const [result] = await workspace.open(more).source.read([id]);
  return result?.ok ? result.record : expect.fail(`not read: ${JSON.stringify(result)}`);
};
const stateOf = async (id: string, more: object = {}) => (await read(id, more)).state;

test('it presents who closed it, whose it is, and where they are', async () => {
  const { standin } = workspace;
  standin.addTeam({ id: 880011, name: 'Support' });
  const id = await workspace.closed({ team: 880011, tags: ['vip'], attributes: { Plan: 'pro' } });
  const { shape, personId, locale } = await read(id);
  expect({ personId, locale }).toEqual({ personId: workspace.contact, locale: 'de' });
  expect(shape).toMatchObject({
    conversation: { id, tags: ['vip'], attributes: { Plan: 'pro' } },
    ticket: { isTicket: false },
    agent: { id: '7700042', name: 'Mara Vogel' },
    team: { name: 'Support' },
    contact: { email: 'hanna@example.com' },
  });
});

test('it says where the contact is, and never takes the workspace’s zone for theirs', async () => {
  const { standin } = workspace;
  const contact = standin.addContact({ email: 'jo@example.com', country: 'Australia', region: 'Queensland' });
  const nowhere = standin.addContact({ email: 'al@example.com' });
  const placeOf = async (person: string) => {
    const { timeZone, country, region } = await read(await workspace.closed({ contacts: [person] }));
    return { timeZone, country, region };
  };
  expect(await placeOf(contact.id)).toEqual({ timeZone: undefined, country: 'Australia', region: 'Queensland' });
  expect(await placeOf(nowhere.id)).toEqual({ timeZone: undefined, country: undefined, region: undefined });
});

test('it looks twice at what the index has not taken up yet', async () => {
  const id = await workspace.closed();
  workspace.standin.changeSettings({ indexLagMs: 3_600_000 });
  expect(await stateOf(id)).toMatchObject({ is: 'closed' });
});

test('it takes what was merged into another for none of its own, which only the parts show', async () => {
  const { standin } = workspace;
  const [one, other] = [standin.addConversation({ contacts: [workspace.contact] }), standin.addConversation({})];
  await standin.merge({ id: one.id, into: other.id });
  expect(await stateOf(one.id)).toEqual({ is: 'out', why: 'merged into another conversation' });
});

test('it asks nobody about a message of ours that nobody replied to', async () => {
  const id = await workspace.closed({ deliveredAs: 'automated' });
  expect(await stateOf(id)).toMatchObject({ is: 'out' });
  await workspace.standin.reply({ id });
  workspace.later();
  await workspace.standin.close({ id });
  expect(await stateOf(id)).toMatchObject({ is: 'closed' });
});

test('it asks nobody who is unsubscribed, deleted or not there', async () => {
  const { standin } = workspace;
  const { id: contact } = standin.addContact({ email: 'no@example.com', unsubscribedFromEmails: true });
  const id = await workspace.closed({ contacts: [contact] });
  expect(await stateOf(id)).toMatchObject({ is: 'out', why: expect.stringContaining('unsubscribed') });
  expect(await stateOf(id, { skipContacts: ['spam'] })).toMatchObject({ is: 'closed' });
  expect(await stateOf(await workspace.closed({ contacts: [] }))).toMatchObject({ is: 'out' });
});

test('it names the closing of a conversation without statistics by its parts, and a bot by what it is', async () => {
  const { standin } = workspace;
  const imported = await workspace.closed({ imported: true });
  expect(await stateOf(imported)).toMatchObject({ is: 'closed', closing: `c${workspace.clock.now.getTime() / 1_000}` });
  const { id } = standin.addConversation({ contacts: [workspace.contact] });
  await standin.close({ id, by: 'bot' });
  expect(await stateOf(id)).toMatchObject({ is: 'closed' });
  expect(await stateOf(id, { closedByBots: 'skip' })).toMatchObject({ is: 'out' });
});

test('it takes snoozed for open, deleted for gone', async () => {
  const id = await workspace.closed();
  await workspace.standin.snooze({ id });
  expect(await stateOf(id)).toEqual({ is: 'open' });
  await workspace.standin.remove({ id });
  expect(await workspace.source.read([id])).toEqual([{ ok: false, why: 'not-found' }]);
});

const resolvedIsClosed = [
  ['resolved', 'closed', 'open'],
  ['closed', 'open', 'closed'],
  ['either', 'closed', 'closed'],
] as const;
test.each(resolvedIsClosed)(
  'of a ticket, where %s counts, resolved is %s, closed by a bot is %s',
  async (ticketIsClosed, resolved, closed) => {
    const { standin } = workspace;
    const one = standin.addTicket({ contacts: [workspace.contact] });
    await standin.setCategory({ id: one.id, category: 'resolved' });
    expect(await stateOf(one.id, { ticketIsClosed })).toMatchObject({ is: resolved });
    const other = standin.addTicket({ contacts: [workspace.contact] });
    await standin.close({ id: other.id, by: 'bot' });
    expect(await stateOf(other.id, { ticketIsClosed })).toMatchObject({ is: closed });
  },
);

test('of a ticket it keeps the closing when it is closed after it was resolved, and another when it was reopened', async () => {
  const { standin } = workspace;
  const { id } = standin.addTicket({ contacts: [workspace.contact] });
  await standin.setCategory({ id, category: 'resolved' });
  const first = await stateOf(id);
  workspace.later();
  await standin.close({ id });
  expect(await stateOf(id)).toEqual(first);
  workspace.later();
  await standin.reply({ id });
  expect(await stateOf(id)).toEqual({ is: 'open' });
  workspace.later();
  await standin.close({ id });
  expect(await stateOf(id)).not.toEqual(first);
});

test('it asks nobody about a back-office ticket, and reads none where no category asks', async () => {
  const id = await workspace.closedTicket({ type: 'Bug' });
  expect(await stateOf(id)).toMatchObject({ is: 'out' });
  workspace.standin.clearCalls();
  workspace.standin.changeSettings({ refuses: ['tickets'] });
  expect(await stateOf(id, { ticketCategories: [] })).toMatchObject({ is: 'out' });
});

test('it looks at the parts at each reading where a bot closed it, as it may have been merged since', async () => {
  const { standin } = workspace;
  const [one, other] = [standin.addConversation({ contacts: [workspace.contact] }), standin.addConversation({})];
  await standin.close({ id: one.id, by: 'bot' });
  expect((await read(one.id)).state).toMatchObject({ is: 'closed', closing: expect.stringMatching(/^c\d/) });
  await standin.reopen({ id: one.id });
  await standin.merge({ id: one.id, into: other.id });
  expect((await read(one.id)).state).toMatchObject({ is: 'out' });
});
