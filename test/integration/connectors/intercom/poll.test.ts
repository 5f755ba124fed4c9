import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PollPage, Source } from '../../../../core/connector/contract.ts';
import { answer, openWorkspace, type Workspace } from '../../../support/connectors/intercom/workspace.ts';

let workspace: Workspace;
beforeEach(async () => {
  workspace = await openWorkspace({ ratings: true });
});
afterEach(() => workspace.close());

async function sweep(source: Source, from: { since: Date } | { cursor: string }): Promise<PollPage[]> {
  const page = (await source.poll?.(from)) ?? expect.fail('there is no poll');
  return page.done ? [page] : [page, ...(await sweep(source, { cursor: page.cursor }))];
}
const told = (pages: readonly PollPage[]) =>
  pages.flatMap(({ events }) => events).map((event) => [event.kind, 'recordId' in event && event.recordId]);

describe.each(['day', 'second'] as const)('where a search is by the %s', (searchBy) => {
  test('it finds what closed since, and nothing from before', async () => {
    workspace.standin.changeSettings({ searchBy });
    const early = await workspace.closed();
    workspace.later();
    const since = workspace.clock.now;
    const ids = [await workspace.closed(), await workspace.closedTicket()];
    const pages = await sweep(workspace.source, { since });
    expect(told(pages)).toEqual(ids.map((id) => ['closed', id]));
    const id = await workspace.closed();
    const cursor = pages.at(-1)?.cursor ?? '';
    // Two minutes back: the index lags.
    const later = told(await sweep(workspace.source, { cursor }));
    expect(later).toContainEqual(['closed', id]);
    expect(later).not.toContainEqual(['closed', early]);
  });
});

test('it reads every page, and asks for no wider time once a search has shown that seconds count', async () => {
  const { standin } = workspace;
  standin.changeSettings({ searchBy: 'second' });
  const since = workspace.clock.now;
  for (let n = 0; n < 151; n++)
    await standin.close({ id: standin.addConversation({ contacts: [workspace.contact] }).id });
  workspace.later(60_000);
  const pages = await sweep(workspace.source, { since });
  expect(new Set(told(pages).map(([, id]) => id)).size).toBe(151);
  expect(pages.map(({ done }) => done)).toEqual([false, false, false, true]);
});

test('it finds a rating', async () => {
  const since = workspace.clock.now;
  const id = await workspace.closed();
  await workspace.standin.rate({ id, rating: 2, remark: 'slow' });
  const events = (await sweep(workspace.source, { since })).flatMap((page) => page.events);
  expect(events).toContainEqual(
    expect.objectContaining({ kind: 'external-grade', recordId: id, grade: 2, comment: 'slow' }),
  );
});

test('it takes no closing of its own for one, and looks back three days once a day', async () => {
  const { standin, source } = workspace;
  standin.changeSettings({ ticketWrites: 'stubborn', searchBy: 'second' });
  const since = workspace.clock.now;
  const id = await workspace.closedTicket();
  workspace.later(600_000);
  const first = await sweep(source, { since });
  await source.writeBack([answer(id)]);
  const [{ cursor } = expect.fail('no page')] = first.slice(-1);
  const second = await sweep(source, { cursor });
  expect(told(second)).toEqual([]);
  workspace.later(86_400_000);
  const third = await sweep(source, { cursor: second.at(-1)?.cursor ?? '' });
  expect(told(third)).toEqual([['closed', id]]);
});
