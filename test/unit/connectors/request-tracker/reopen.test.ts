import { describe, expect, test } from 'vitest';
import { requestTracker } from '../../../../connectors/request-tracker/request-tracker.ts';
import type { ActionRequest } from '../../../../core/connector/contract.ts';
import { actOnce } from '../../../support/act-once.ts';
import { openPorts } from '../../../support/contract/bench.ts';

/* By a ticket in memory, in the form in which a Request Tracker 5.0.3 answers. The real one: test/real/request-tracker-contract.test.ts. */

const address = 'https://rt.example.com/rt';
const closed = { Type: 'Status', ObjectId: 1, OldValue: 'open', NewValue: 'resolved', Created: '2026-11-20T10:00:00Z' };

/** @param keeps attributes that a write does not change, though it succeeds */
function opened({ status = 'resolved', closings = ['7'], keeps = [] as string[] } = {}) {
  const ticket: Record<string, unknown> = { Status: status, Queue: 'Support', Owner: 'Nobody', Priority: '10' };
  const wrote: unknown[] = [];
  const people: Readonly<Record<string, object>> = { ann: { Privileged: 1 }, hanna: { Privileged: 0 } };
  const owner = () => ({ id: ticket.Owner, Name: ticket.Owner, type: 'user' });
  const shown = () => ({ id: '1', ...ticket, Queue: { id: '3', Name: ticket.Queue }, Owner: owner() });
  const answers: Readonly<Record<string, (path: string, body: Record<string, unknown>) => unknown>> = {
    'POST /tickets': () => ({ items: [shown()] }),
    'GET /transactions': () => ({ items: closings.map((id) => ({ ...closed, id })) }),
    'PUT /ticket': (_, body) => {
      wrote.push(body);
      const given = Object.entries(body).filter(([name]) => !keeps.includes(name));
      for (const [name, value] of given) ticket[name] = name === 'Status' ? String(value).toLowerCase() : value;
      return ['a sentence in the language of the user'];
    },
    'GET /ticket': shown,
    'GET /queue': (path) => (path.endsWith('/Escalations') ? { id: '4' } : undefined),
    'GET /user': (path) => people[path.split('/').at(-1) ?? ''],
  };
  const { ports } = openPorts({
    fetch: async (url, { method = 'GET', body = '' }) => {
      const path = decodeURIComponent(String(url).slice(`${address}/REST/2.0`.length).split('?')[0] ?? '');
      const json = body.startsWith('{') ? JSON.parse(body) : {};
      const answer = answers[`${method} ${path.split('/').slice(0, 2).join('/')}`]?.(path, json);
      return new Response(JSON.stringify(answer ?? { message: 'Not Found' }), { status: answer ? 200 : 404 });
    },
  });
  const source = requestTracker.open({ address, token: '1-27-0123456789abcdef', pollOnly: true }, ports);
  const reopen = (params: unknown, more: Partial<ActionRequest> = {}) =>
    actOnce(source, { recordId: '1', name: 'reopen', params, marker: 'm', closing: '7', again: false, ...more });
  return { source, reopen, wrote };
}

const all = { status: 'open', queue: 'Escalations', owner: 'ann', priority: 50 };

describe('reopening', () => {
  test('sets status, queue, owner and priority in one call', async () => {
    const { reopen, wrote } = opened();
    expect(await reopen(all)).toEqual({ ok: true, done: 'reopened, in the queue Escalations' });
    expect(wrote).toEqual([{ Status: 'open', Queue: 'Escalations', Owner: 'ann', Priority: 50 }]);
  });

  test('takes names without regard to case', async () => {
    const { reopen } = opened();
    expect(await reopen({ status: 'Open' })).toEqual({ ok: true, done: 'reopened' });
  });

  test.each([
    ['is open', { status: 'open' }, {}],
    ['was opened by an earlier attempt', { status: 'open' }, { again: true }],
    ['was closed again since', { closings: ['7', '9'] }, { again: true }],
  ])('leaves a ticket alone that %s', async (_, given, more) => {
    const { reopen, wrote } = opened(given);
    expect(await reopen(all, more)).toEqual({ ok: true, done: 'it was open already' });
    expect(wrote).toEqual([]);
  });

  test.each(['Status', 'Queue', 'Owner', 'Priority'])('is parked where %s is refused, in a success', async (name) => {
    const { reopen } = opened({ keeps: [name] });
    const message = expect.stringContaining(`did not change ${name.toLowerCase()} of ticket 1`);
    expect(await reopen(all)).toMatchObject({ ok: false, error: { advice: { kind: 'permanent' }, message } });
  });

  test.each([
    [all, undefined],
    [{}, undefined],
    [{ status: 'Resolved' }, 'the status "Resolved" counts as closed'],
    [{ status: 'deleted' }, 'the status "deleted" counts as closed'],
    [{ queue: 'Nowhere' }, 'there is no queue "Nowhere"'],
    [{ owner: 'nobody' }, 'there is no agent "nobody"'],
    [{ owner: 'hanna' }, 'there is no agent "hanna"'],
  ])('is checked: %o', async (params, problem) => {
    const findings = await opened().source.checkActions?.([{ at: 'answers[0].do[0].reopen', name: 'reopen', params }]);
    expect(findings?.map((one) => one.problem)).toEqual(problem === undefined ? [] : [problem]);
  });
});
