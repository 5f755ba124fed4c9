import { describe, expect, test } from 'vitest';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import type { PollPage, RecordEvent } from '../../../../core/connector/contract.ts';
import { adviceOf } from '../../../../core/errors.ts';
import { account, closeAfterwards } from '../../../support/connectors/zendesk/account.ts';
import { testPorts } from '../../../support/connectors/zendesk/ports.ts';
import { answering, type Seen, type Step } from '../../../support/connectors/zendesk/scripted-server.ts';
import { recordEvents } from '../../../support/contract/record-events.ts';

const start = Date.parse('2026-11-21T12:00:00Z');

/** An account whose clock stands where it is put. */
async function timed() {
  const clock = { at: start };
  const given = await account(undefined, { now: () => new Date(clock.at) });
  const { poll } = given.source;
  if (poll === undefined) throw new Error('no poll');
  return { ...given, clock, poll };
}

const brief = ({ kind, recordId, closing, what }: RecordEvent): unknown[] => [kind, recordId, closing, what];
const since = { since: new Date(start - 3_600_000) };

describe('a sweep', () => {
  test('finds what closed, reopened, was merged or deleted, and nothing else', async () => {
    const { standin, solved, clock, poll } = await timed();
    const [plain, shut, again, open, gone, merged, back] = [
      solved(),
      solved(),
      solved(),
      solved({ status: 'open' }),
      solved(),
      solved({ status: 'open' }),
      solved(),
    ].map(String);
    await standin.close(Number(shut));
    await standin.reopen(Number(again));
    await standin.solve(Number(again));
    await standin.deleteTicket(Number(gone));
    await standin.merge({ id: Number(merged), into: Number(open) });
    await standin.reopen(Number(back));
    clock.at += 120_000;
    const page = await poll(since);
    expect(recordEvents(page.events).map(brief)).toEqual([
      ['closed', plain, 'r0', 'found solved by a sweep'],
      ['closed', shut, 'r0', 'found closed by a sweep'],
      ['closed', again, 'r1', 'found solved by a sweep'],
      ['changed', gone, undefined, 'found deleted by a sweep'],
      ['changed', merged, undefined, 'found merged by a sweep'],
      ['changed', back, undefined, 'found reopened by a sweep'],
    ]);
    expect(page.events[0]?.at).toEqual(new Date(start));
    expect(page).toMatchObject({ done: true, reached: new Date(start + 60_000) });
    expect(standin.callCounts()).toEqual({ 'POST /oauth/tokens': 1, 'GET /api/v2/incremental/tickets/cursor': 1 });
  });

  test('leaves the closing out where Zendesk sends no metrics, and tells closings apart by the last change', async () => {
    const pages = [...Array(3).keys()].map((minute) =>
      exported({ ticket: { updated_at: `2026-11-21T10:0${minute % 2}:00Z` } }),
    );
    const { poll } = await scriptedPoll((_, index) => pages[index] ?? pages[0] ?? { status: 500 });
    const keys: (string | undefined)[] = [];
    for (const _ of pages) {
      const [event] = (await poll(since)).events;
      expect(event).not.toHaveProperty('closing');
      keys.push(event?.key);
    }
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toBe(keys[2]);
  });

  test('calls in the background, by the quota of exports', async () => {
    const { poll, seen } = await timed();
    await poll(since);
    expect(seen.background).toEqual(['incremental']);
    expect(seen.left).toContainEqual({ limit: 10, remaining: 9, resetMs: 60_000, name: 'incremental' });
  });

  test('never begins in the minute that Zendesk refuses', async () => {
    const { poll, clock } = await timed();
    await expect(poll({ since: new Date(clock.at) })).resolves.toMatchObject({ events: [], done: true });
    await expect(poll({ since: new Date(clock.at + 3_600_000) })).resolves.toMatchObject({ events: [] });
  });

  test('waits when Zendesk’s clock is behind', async () => {
    const { poll } = await scriptedPoll(() => ({
      status: 400,
      body: { error: 'StartTimeTooRecent', description: 'x' },
    }));
    const error = await poll(since).catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'transient', retryAfterMs: 60_000, throttled: true });
  });

  test('that is not allowed says who must do what', async () => {
    const { standin, poll } = await timed();
    standin.changeSettings({ apiRole: 'agent' });
    const error = await poll(since).catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'config' });
    expect(String(error)).toContain('an admin must make the owner of the OAuth client');
  });

  test('begins at the time of its cursor when Zendesk does not know that any more', async () => {
    const { poll, server } = await scriptedPoll(({ path }) =>
      path.includes('cursor=old') ? { status: 400, body: { error: 'InvalidCursor' } } : exported(),
    );
    const page = await poll({ cursor: '1763719200:old' });
    expect(page.events).toHaveLength(1);
    expect(server.seen.at(-1)?.path).toContain('start_time=1763719200&');
    // Begun at 0 it would read the whole history.
    await expect(poll({ cursor: 'nonsense' })).rejects.toMatchObject({ advice: { kind: 'permanent' } });
  });

  test('keeps its place when a page brings no cursor', async () => {
    const { poll } = await scriptedPoll(() => ({
      status: 200,
      body: { tickets: [], after_cursor: null, end_of_stream: true },
    }));
    expect((await poll({ cursor: '1763719200:kept' })).cursor).toBe('1763719200:kept');
    const { cursor } = await poll({ since: new Date(1763719200_000) });
    expect(cursor).toBe('1763719200:');
  });

  test('leaves one strange ticket out, and says so', async () => {
    const body = { tickets: [{ id: 8, status: 7 }, ticket], after_cursor: 'c', end_of_stream: true };
    const { poll, seen } = await scriptedPoll(() => ({ status: 200, body }));
    expect(recordEvents((await poll(since)).events).map(({ recordId }) => recordId)).toEqual(['7']);
    expect(seen.logged.join()).toContain('left out of a sweep');
  });
});

const ticket = {
  id: 7,
  status: 'solved',
  updated_at: '2026-11-21T10:00:00Z',
  generated_timestamp: 1763719200,
  tags: [],
  custom_fields: [],
};

function exported(changes: { ticket?: object } = {}): Step {
  const tickets = [{ ...ticket, ...changes.ticket }];
  return { status: 200, body: { tickets, after_cursor: 'next', end_of_stream: true } };
}

async function scriptedPoll(decide: (request: Seen, index: number) => Step) {
  let index = 0;
  const server = await answering((request) =>
    request.path === '/oauth/tokens' ? { status: 200, body: { access_token: 't' } } : decide(request, index++),
  );
  closeAfterwards(server);
  const { ports, seen } = testPorts();
  const settings = { subdomain: 'acme', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'], baseUrl: server.url };
  const { poll } = zendesk.open(zendesk.settings.parse(settings), ports);
  if (poll === undefined) throw new Error('no poll');
  return { poll: (from: Parameters<typeof poll>[0]): Promise<PollPage> => poll(from), server, seen };
}
