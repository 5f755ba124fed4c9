import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ActionRequest } from '../../../../core/connector/contract.ts';
import { actOnce } from '../../../support/act-once.ts';
import { openWorkspace, type Workspace } from '../../../support/connectors/intercom/workspace.ts';

/* What every connector's actions have to do is in the contract suite, on conversations. */

let workspace: Workspace;
beforeEach(async () => {
  workspace = await openWorkspace();
  workspace.standin.addTeam({ id: 991, name: 'Escalations' });
});
afterEach(() => workspace.close());

const act = (recordId: string, name: string, params: unknown, more: Partial<ActionRequest> = {}) => {
  const request = { recordId, name, params, marker: 'inbox/7.1.a1.unhappy.0', closing: '', again: false, ...more };
  return actOnce(workspace.open().source, request);
};

async function closingOf(id: string): Promise<string> {
  const [read] = await workspace.open().source.read([id]);
  return read?.ok && read.record.state.is === 'closed' ? read.record.state.closing : '';
}

describe('a ticket', () => {
  test('is opened in the Inbox, and keeps its state, of which the customer would be told', async () => {
    const { standin, closedTicket } = workspace;
    const id = await closedTicket();
    const closing = await closingOf(id);
    expect(await act(id, 'reopen', { team: 'Escalations' }, { closing })).toMatchObject({
      ok: true,
      done: 'reopened, in the team Escalations',
    });
    expect(standin.conversation(id)).toMatchObject({ state: 'open', team: 991, ticket: { category: 'resolved' } });
    expect(await closingOf(id)).toBe(closing);
  });

  test('that a teammate closed again after that is left alone', async () => {
    const { standin, closedTicket, later } = workspace;
    const id = await closedTicket();
    const closing = await closingOf(id);
    await act(id, 'reopen', {}, { closing });
    later();
    await standin.close({ id });
    expect(await act(id, 'reopen', {}, { closing, again: true })).toMatchObject({ done: 'it was open already' });
    expect(standin.conversation(id).state).toBe('closed');
  });

  test('is tagged, and stays closed', async () => {
    const { standin, closedTicket } = workspace;
    const id = await closedTicket({ tags: ['vip'] });
    await act(id, 'tag', ['unhappy', 'vip']);
    expect(standin.conversation(id)).toMatchObject({ state: 'closed', tags: ['vip', 'unhappy'] });
  });
});

test('a conversation is assigned without a word to the customer, and stays closed', async () => {
  const { standin, closed } = workspace;
  const id = await closed();
  await act(id, 'assign', { assignee: 'Mara@standin.example' });
  const { state, admin, parts } = standin.conversation(id);
  expect({ state, admin }).toEqual({ state: 'closed', admin: 7_700_042 });
  expect(parts.filter(({ type }) => type === 'comment')).toEqual([]);
});

test('a team that is gone parks the action, not the source', async () => {
  const { closed } = workspace;
  const result = await act(await closed(), 'assign', { team: 'Nobody' });
  expect(result).toMatchObject({
    ok: false,
    why: 'error',
    error: { advice: { kind: 'permanent' }, message: 'Intercom: there is no team "Nobody"' },
  });
});

test('check tells that the app has no right to tags, where a rule tags', async () => {
  workspace.standin.changeSettings({ refuses: ['tags'] });
  const used = [{ at: 'answers[0].do[0].tag', name: 'tag', params: ['unhappy'] }];
  expect(await workspace.source.checkActions?.(used)).toMatchObject([
    { level: 'error', at: 'answers[0].do[0].tag', problem: expect.stringContaining('lacks a permission') },
  ]);
  const others = [{ at: 'answers[0].do[0].note', name: 'note', params: '"bad"' }];
  expect(await workspace.source.checkActions?.(others)).toEqual([]);
});
