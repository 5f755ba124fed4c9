import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import type { Source } from '../../../../core/connector/contract.ts';
import { adviceOf } from '../../../../core/errors.ts';
import type { ZendeskStandin } from '../../../../standins/zendesk/standin.ts';
import {
  account,
  answer,
  closeAfterwards,
  everything,
  ids,
  notes,
  written,
} from '../../../support/connectors/zendesk/account.ts';
import { testPorts } from '../../../support/connectors/zendesk/ports.ts';
import { answering } from '../../../support/connectors/zendesk/scripted-server.ts';

describe('read', () => {
  test.each(['beside', 'inside'] as const)('tells closings apart (metric sets %s the tickets)', async (metricSets) => {
    const { standin, source, solved } = await account();
    standin.changeSettings({ metricSets });
    const id = solved();
    const closing = async (): Promise<unknown> => {
      const [result] = await source.read([String(id)]);
      return result?.ok === true && result.record.state.is === 'closed' ? result.record.state.closing : result;
    };
    expect(await closing()).toBe('r0');
    await standin.close(id);
    expect(await closing()).toBe('r0');
    const again = solved();
    await standin.reopen(again);
    await standin.solve(again);
    const [result] = await source.read([String(again)]);
    expect(result).toMatchObject({ record: { state: { is: 'closed', closing: 'r1' } } });
  });

  test("takes fields that can't be read for the account's fault, which may pass, not for the tickets' (audit 17)", async () => {
    const { standin, source, solved } = await account();
    const id = String(solved());
    standin.faults.add({ path: '/api/v2/ticket_fields', status: 404, body: { error: 'RecordNotFound' } });
    const error: unknown = await source.read([id]).catch((thrown: unknown) => thrown);
    expect(adviceOf(error)).toEqual({ kind: 'config', doubtful: true });
    expect((await source.read([id]))[0]).toMatchObject({ ok: true });
  });

  test('follows a ticket through deletion, restoration and spam', async () => {
    const { standin, source, solved } = await account();
    const requesterId = standin.addUser({ name: 'Eve' }).id;
    const [id, other] = [solved({ requesterId }), solved({ requesterId })];
    const states = async (): Promise<unknown[]> =>
      (await source.read([String(id), String(other)])).map((one) => (one.ok ? one.record.state.is : one.why));
    await standin.deleteTicket(id);
    expect(await states()).toEqual(['not-found', 'closed']);
    await standin.restore(id);
    expect(await states()).toEqual(['closed', 'closed']);
    await standin.markAsSpam(id);
    expect(await states()).toEqual(['not-found', 'out']);
  });

  test('keeps the closing when only the custom status changes within solved', async () => {
    const { standin, source, solved } = await account();
    const customStatusId = standin.addCustomStatus({ name: 'Solved by phone', category: 'solved' });
    const id = solved();
    await standin.setCustomStatus({ id, customStatusId });
    expect((await source.read([String(id)]))[0]).toMatchObject({
      record: {
        state: { is: 'closed', closing: 'r0' },
        shape: { ticket: { status: 'solved', customStatus: { id: String(customStatusId), name: 'Solved by phone' } } },
      },
    });
  });

  describe('of names that Zendesk does not send along', () => {
    const namesOf = async (source: Source, id: number): Promise<unknown> => {
      const [read] = await source.read([String(id)]);
      const Shape = z.object({ ticket: z.object({ brand: Named, form: Named, customStatus: Named }) });
      const { brand, form, customStatus } = Shape.parse(read?.ok === true ? read.record.shape : undefined).ticket;
      return [brand.name, form.name, customStatus.name];
    };
    const Named = z.object({ id: z.string(), name: z.string().optional() });
    const lists = ['GET /api/v2/brands', 'GET /api/v2/ticket_forms', 'GET /api/v2/custom_statuses'];

    test('asks for them once', async () => {
      const { standin, source, solved } = await account();
      standin.changeSettings({ nameSideloads: false });
      const brandId = standin.addBrand({ name: 'Outlet' });
      const id = solved({ brandId });
      expect(Object.keys(standin.callCounts())).not.toContain(lists[0]);
      expect(await namesOf(source, id)).toEqual(['Outlet', 'Default form', 'Solved']);
      expect(await namesOf(source, id)).toEqual(['Outlet', 'Default form', 'Solved']);
      expect(lists.map((list) => standin.callCounts()[list])).toEqual([1, 1, 1]);
    });

    test('goes without those that it may not read, and says so', async () => {
      const { standin, source, seen, solved } = await account();
      standin.changeSettings({ nameSideloads: false });
      standin.faults.add({ path: 'ticket_forms', status: 403, body: { error: 'Forbidden' } });
      expect(await namesOf(source, solved())).toEqual(['Acme', undefined, 'Solved']);
      expect(seen.logged.join()).toContain('ticket_forms');
    });

    test('fails when it may read them later', async () => {
      const { standin, source, solved } = await account();
      standin.changeSettings({ nameSideloads: false });
      standin.faults.add({ path: 'brands', status: 503, body: 'busy' });
      const id = solved();
      await expect(source.read([String(id)])).rejects.toMatchObject({ advice: { kind: 'transient' } });
      expect(await namesOf(source, id)).toEqual(['Acme', 'Default form', 'Solved']);
    });
  });
});

describe('writeBack', () => {
  test('puts grade, comment, time, tags and one internal note on a ticket, and nothing else', async () => {
    const { standin, source, solved } = await account();
    const id = solved({ tags: ['vip'] });
    const item = answer(id);
    expect(await source.writeBack([item])).toEqual([written]);
    const report = standin.ticket(id);
    expect(report.ticket).toMatchObject({ status: 'solved' });
    expect(report.fields).toEqual({
      [ids.grade]: 9,
      [ids.comment]: 'Quick and kind',
      [ids.answeredAt]: item.answeredAt.toISOString().slice(0, 10),
    });
    expect(report.tags.sort()).toEqual(['fb_answered', 'fb_grade_9', 'vip']);
    expect(report.mails).toBe(0);
    expect(notes(standin, id)).toEqual([`closeloop ref j${id}.1`]);
  });

  test('a ticket whose history cannot be read fails alone', async () => {
    const { standin, source, solved } = await account();
    const items = [solved({ tags: ['fb_answered'] }), solved({ tags: ['fb_answered'] })].map((id) => answer(id));
    standin.faults.add({ path: 'audits', status: 404, body: { error: 'RecordNotFound', description: 'Not found' } });
    const [first, second] = await source.writeBack(items);
    expect(first).toMatchObject({ ok: false, why: 'not-found' });
    expect(second).toEqual(written);
  });

  test('a ticket that is closed already costs no update', async () => {
    const { standin, source, solved } = await account();
    const id = solved();
    await standin.close(id);
    expect(await source.writeBack([answer(id)])).toEqual([
      { ok: false, why: 'closed', message: expect.stringContaining(`on ticket ${id}: it is closed`) },
    ]);
    expect(standin.callCounts()['PUT /api/v2/tickets/update_many']).toBeUndefined();
  });

  test('a ticket that closes while the job is queued is closed, not an error', async () => {
    const { standin, source, solved } = await account(everything, { jobs: { queuedMs: 50, workingMs: 0 } });
    const [good, closing] = [solved(), solved()];
    const writing = source.writeBack([answer(good), answer(closing)]);
    await expect.poll(() => standin.callCounts()['PUT /api/v2/tickets/update_many']).toBe(1);
    await standin.close(closing);
    expect((await writing).map((result) => (result.ok ? 'ok' : result.why))).toEqual(['ok', 'closed']);
  });

  test('a ticket that an agent changes meanwhile is a conflict, tried again', async () => {
    const clock = { at: Date.now() - 3_600_000 };
    const { standin, source, solved } = await account(everything, {
      jobs: { queuedMs: 50, workingMs: 0 },
      now: () => new Date(clock.at),
    });
    const [good, busy] = [solved(), solved()];
    const writing = source.writeBack([answer(good), answer(busy)]);
    await expect.poll(() => standin.callCounts()['PUT /api/v2/tickets/update_many']).toBe(1);
    clock.at += 5000;
    await standin.setTags({ id: busy, tags: ['seen'] });
    const [first, second] = await writing;
    expect(first).toEqual(written);
    if (second?.ok !== false || second.why !== 'error') throw new Error('expected an error');
    expect(adviceOf(second.error)).toEqual({ kind: 'transient' });
    expect(await source.writeBack([answer(busy)])).toEqual([written]);
    expect(standin.ticket(busy).tags).toContain('seen');
  });

  describe('never doubles a note after an unknown outcome', () => {
    const rows: [name: string, writeBack: object, ...faults: Parameters<ZendeskStandin['faults']['add']>[0][]][] = [
      ['when the update never arrived', everything, { path: 'update_many', then: 'cut' }],
      ['when the job cannot be looked at', everything, { path: 'job_statuses', status: 500 }],
      [
        'when the tickets cannot be read afterwards',
        everything,
        { path: 'tickets/show_many' },
        { path: 'tickets/show_many', status: 502, body: '<html>' },
      ],
      ['with notes alone', { note: true }, { path: 'update_many', then: 'work-then-cut' }],
      [
        'with a dropdown that drops the value',
        { note: true, grade: ids.dropdown },
        { path: 'update_many', then: 'work-then-cut' },
      ],
    ];
    test.each(rows)('%s', async (_name, writeBack, ...faults) => {
      const { standin, source, solved } = await account(writeBack);
      const id = solved();
      // Answered now: the attempt's own change of the ticket is later than the answer.
      const item = answer(id, { answeredAt: new Date() });
      for (const fault of faults) standin.faults.add(fault);
      const error = await source.writeBack([item]).catch((thrown: unknown) => thrown);
      expect(adviceOf(error).kind).toBe('transient');
      await standin.idle();
      expect((await source.writeBack([item]))[0]?.ok).toBe(true);
      expect(notes(standin, id)).toEqual([`closeloop ref j${id}.1`]);
    });

    test('when the first job is still queued while the second attempt is made', async () => {
      const clock = { at: Date.now() - 3_600_000 };
      const { standin, source, solved } = await account(everything, {
        jobs: { queuedMs: 60, workingMs: 0 },
        // Zendesk's stamps have seconds only; every call is one later.
        now: () => {
          clock.at += 1000;
          return new Date(clock.at);
        },
      });
      const id = solved();
      standin.faults.add({ path: 'update_many', then: 'work-then-cut' });
      await source.writeBack([answer(id)]).catch(() => {});
      const [second] = await source.writeBack([answer(id)]);
      expect(second).toMatchObject({ ok: false, why: 'error' });
      expect(await source.writeBack([answer(id)])).toEqual([written]);
      expect(notes(standin, id)).toHaveLength(1);
    });
  });
});

test('a job that ends without a word on a ticket leaves the outcome open', async () => {
  const ticket = { id: 7, status: 'solved', updated_at: '2026-11-20T00:00:00Z', tags: [], custom_fields: [] };
  const server = await answering(({ path }) => {
    if (path === '/oauth/tokens') return { status: 200, body: { access_token: 't' } };
    if (path.includes('ticket_fields')) return { status: 200, body: { ticket_fields: [] } };
    if (path.includes('update_many'))
      return { status: 200, body: { job_status: { id: 'a', status: 'killed', results: null } } };
    return { status: 200, body: { tickets: [ticket] } };
  });
  closeAfterwards(server);
  const settings = {
    subdomain: 'acme',
    clientId: 'i',
    clientSecret: 's',
    webhookSecrets: ['s'],
    baseUrl: server.url,
    writeBack: { tags: true },
  };
  const [result] = await zendesk.open(settings, testPorts().ports).writeBack([answer(7)]);
  expect(result).toMatchObject({
    ok: false,
    why: 'error',
    error: { advice: { kind: 'transient' }, outcome: 'unknown' },
  });
  expect(server.seen.find(({ method }) => method === 'PUT')?.body).toEqual({
    tickets: [
      {
        id: 7,
        additional_tags: ['fb_answered', 'fb_grade_9'],
        safe_update: true,
        updated_stamp: '2026-11-20T00:00:00Z',
      },
    ],
  });
});
