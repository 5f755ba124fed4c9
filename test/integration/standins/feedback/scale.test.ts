import { expect, test } from 'vitest';
import { envelope, service } from '../../../support/standins/feedback/service.ts';

test('a page costs a page, statistics and look-ups cost no scan, however many requests there are', async () => {
  const s = await service();
  s.standin.addCampaign({ account: 'a', id: 12, customFields: [{ name: 'Store' }] });
  s.standin.addCampaign({ account: 'a', id: 13 });
  s.standin.fill({ campaign: 12, count: 100_000, graded: 0.3, days: 60 });
  s.standin.fill({ campaign: 13, count: 5 });
  const cost = async (path: string): Promise<number> => {
    const before = s.standin.visited();
    expect((await s.call('GET', path)).status).toBe(200);
    return s.standin.visited() - before;
  };
  expect({
    first: await cost('/appeals/?campaign=12'),
    last: await cost('/appeals/?campaign=12&page=100'),
    ofAll: await cost('/appeals/?page=101'),
    ofSmall: await cost('/appeals/?campaign=13'),
    campaigns: await cost('/appeals/campaigns'),
    ranged: await cost('/appeals/campaigns/12?stats_from=2026-02-01&stats_to=2026-02-10'),
    fields: await cost('/appeals/custom-fields?campaign=12'),
    contact: await cost('/contacts/fill0050000@example.com'),
  }).toEqual({ first: 1000, last: 1000, ofAll: 5, ofSmall: 5, campaigns: 0, ranged: 0, fields: 0, contact: 1 });
  const page = envelope.parse((await s.call('GET', '/appeals/?campaign=12&page=100')).body);
  expect([page.count, page.results.length, page.next]).toEqual([100_000, 1000, null]);
});
