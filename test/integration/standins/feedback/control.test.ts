// biome-ignore-all lint/suspicious/noThenProperty: nobody awaits a fault; the word is the contract's.
import { describe, expect, test } from 'vitest';
import { type Answer, noon, type Service, service } from '../../../support/standins/feedback/service.ts';

describe('the control surface', () => {
  test('over HTTP builds an account and plays a loop through', async () => {
    const s = await service();
    const commands: [method: string, path: string, body?: object][] = [
      ['POST', 'accounts', { name: 'c', timeZone: 'America/New_York', sendFrom: '09:00:00', sendUntil: '20:00:00' }],
      ['POST', 'keys', { account: 'c', key: 'new', expiresAt: '2026-03-10T09:00:00Z' }],
      ['PATCH', 'keys', { key: 'new', expiresAt: null }],
      ['POST', 'campaigns', { account: 'c', id: 50, type: 'email', metric: 'nps', customFields: [{ name: 'Store' }] }],
      ['PATCH', 'campaigns', { id: 50, sendDelay: 30 }],
      ['POST', 'surveys', { account: 'c', id: 60, name: 'S', questions: [{ question: 'Q', answerType: 'bool' }] }],
      ['POST', 'blacklist', { account: 'c', contact: 'black@b.ee' }],
      ['POST', 'graylist', { campaign: 50, contact: 'gray@b.ee' }],
    ];
    for (const [method, path, body] of commands) expect((await s.control(method, path, body)).status, path).toBe(200);
    const key = { authorization: 'Token new' };
    const request = { campaign: 50, email: 'a@b.ee', custom_fields: { Store: 'x' } };
    expect((await s.call('POST', '/appeals/', request, key)).body).toMatchObject({
      scheduled: '2026-03-10T06:30:00.000000-04:00',
      status: 'Scheduled',
    });
    await s.control('POST', 'access-log', { account: 'c', contact: 'a@b.ee', user: 'eve' });
    expect((await s.control('POST', 'answers', { contact: 'a@b.ee', grade: 9 })).status).toBe(409);
    expect((await s.control('POST', 'clock', { now: '2026-03-10T13:00:00Z' })).body).toEqual({
      now: '2026-03-10T13:00:00.000Z',
    });
    expect(
      (await s.control('POST', 'answers', { contact: 'A@B.ee', grade: 9, comment: 'Tere', survey: true })).status,
    ).toBe(200);
    expect((await s.control('GET', 'requests?campaign=50')).body).toEqual([
      {
        id: 500_001,
        longId: null,
        account: 'c',
        campaign: 50,
        phone: null,
        email: 'a@b.ee',
        identifier: null,
        ip: null,
        smsPhones: [],
        scheduled: '2026-03-10T10:30:00.000Z',
        dueAt: '2026-03-10T13:00:00.000Z',
        sentAt: '2026-03-10T13:00:00.000Z',
        status: 'Sent',
        grade: 9,
        gradedAt: '2026-03-10T13:00:00.000Z',
        comment: 'Tere',
        commentedAt: '2026-03-10T13:00:00.000Z',
        surveyAt: '2026-03-10T13:00:00.000Z',
        customFields: { Store: 'x' },
        masked: false,
      },
    ]);
    expect((await s.control('GET', 'calls')).body).toEqual({ 'requests.create': 1 });
    expect((await s.call('GET', '/contacts/a@b.ee/access-log', undefined, key)).body).toMatchObject({ count: 1 });
    expect((await s.control('DELETE', 'keys', { key: 'new' })).status).toBe(200);
    expect((await s.call('GET', '/surveys/60', undefined, key)).body).toEqual({ detail: 'Invalid token.' });
  });

  const refusals: [says: string, method: string, path: string, body: object | string | undefined, status: number][] = [
    ['an unknown path', 'GET', 'nothing', undefined, 404],
    ['a wrong method', 'PUT', 'keys', {}, 405],
    ['broken JSON', 'POST', 'keys', '{', 400],
    ['an unknown field', 'POST', 'campaigns', { account: 'a', nam: 'x' }, 400],
    ['an account that is not there', 'POST', 'campaigns', { account: 'x' }, 409],
    ['a campaign id taken', 'POST', 'campaigns', { account: 'a', id: 12 }, 409],
    ['a campaign that is not there', 'PATCH', 'campaigns', { id: 99 }, 409],
    ['a key that is not there', 'DELETE', 'keys', { key: 'x' }, 409],
    ['an answer from nobody', 'POST', 'answers', { grade: 5 }, 400],
    ['an answer to nothing', 'POST', 'answers', { contact: 'nobody@b.ee', grade: 5 }, 409],
    ['a grade off the scale', 'POST', 'answers', { request: 500_001, grade: 6 }, 409],
    ['an unknown time zone', 'POST', 'accounts', { name: 'z', timeZone: 'Mars/Olympus' }, 400],
  ];
  test.for(refusals)('refuses %s', async ([, method, path, body, status]) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12 });
    await s.call('POST', '/appeals/', { campaign: 12, email: 'a@b.ee' });
    expect((await s.control(method, path, body)).status).toBe(status);
  });

  test('lists its own routes', async () => {
    const { url } = await service();
    const list = await (await fetch(`${url}/_control/`)).text();
    expect(list.split('\n')).toContain(
      'PATCH /_control/keys {key: string, active?: boolean, expiresAt?: string | null}',
    );
  });

  test('counts calls per endpoint, refused ones included, until cleared', async () => {
    const s = await service();
    await s.call('GET', '/surveys/');
    await s.call('GET', '/surveys/', undefined, { authorization: undefined });
    await s.call('GET', '/appeals');
    await s.call('GET', '/nothing');
    expect(s.standin.calls()).toEqual({ 'surveys.list': 2, redirect: 1, unknown: 1 });
    await s.control('DELETE', 'calls');
    expect(s.standin.calls()).toEqual({});
  });

  test('starts over with reset, seeded where it was', async () => {
    const s = await service({ seed: true });
    s.standin.moveClock({ advanceMs: 5000 });
    s.standin.faults.add({ status: 500 });
    s.standin.deleteKey({ key: 'demo-key' });
    expect((await s.control('POST', 'reset')).status).toBe(200);
    expect(s.standin.now()).toEqual(noon);
    const seeded = await s.call('GET', '/appeals/campaigns', undefined, { authorization: 'Token demo-key' });
    expect(seeded.body).toMatchObject({ count: 7 });
    expect((await s.call('GET', '/appeals/campaigns')).status).toBe(401);
  });

  test('the clock follows the injected one', async () => {
    let now = noon;
    const s = await service({ now: () => now });
    s.standin.moveClock({ advanceMs: 1000 });
    now = new Date(noon.getTime() + 500);
    expect(s.standin.now()).toEqual(new Date(noon.getTime() + 1500));
  });
});

describe('a fault ordered at the service', () => {
  const create = (s: Service): Promise<Answer | 'broken'> =>
    s.call('POST', '/appeals/', { campaign: 12, email: 'a@b.ee' }).catch(() => 'broken' as const);

  test.for([
    ['cut', 'broken', 0],
    ['work-then-cut', 'broken', 1],
  ] as const)('%s: the client sees %s, the service holds %i request', async ([kind, seen, held]) => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12 });
    const fault = { method: 'POST', path: '^/api/appeals/$', then: kind };
    expect((await s.control('POST', 'faults', fault)).status).toBe(201);
    expect(await create(s)).toBe(seen);
    expect(s.standin.requests()).toHaveLength(held);
    expect(await create(s)).toMatchObject({ status: 201 });
  });

  test('429 with Retry-After instead of working', async () => {
    const s = await service();
    s.standin.addCampaign({ account: 'a', id: 12 });
    s.standin.faults.add({ status: 429, headers: { 'retry-after': '3' } });
    const answer = await s.call('POST', '/appeals/', { campaign: 12, email: 'a@b.ee' });
    expect([answer.status, answer.headers.get('retry-after'), s.standin.requests()]).toEqual([429, '3', []]);
  });
});
