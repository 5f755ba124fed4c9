import { describe, expect, test } from 'vitest';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { passwords, users } from '../../../support/worker/dashboard/users.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';
import { openFollowUps } from '../../../support/worker/follow-ups.ts';

const redis = useRedis();
let sources = 0;

async function startShown(general: object = {}, vendor = new ToyVendor()) {
  await redis.handle.client.flushall();
  const loop = await startLoop(redis, {
    vendor,
    source: `said-${++sources}`,
    general: `dashboard: ${JSON.stringify({ port: 0, ...general })}`,
  });
  const answer = async (id: string, store: string, grade: number, comment?: string) => {
    await loop.post(loop.vendor.close(id, { store }).delivery);
    await loop.journey(`${id}.1`, 'asked');
    loop.feedback.standin.answer({ contact: `${id}@example.com`, grade, ...(comment !== undefined && { comment }) });
    await loop.journey(`${id}.1`, 'written');
  };
  return { loop, answer, ...visitorOf(loop.app) };
}

const idsIn = (text: string): string[] =>
  [...text.matchAll(/\(<a href="\/journeys\/[^/]+\/([^"]+)\.1">journey/g)].map(([, id = '']) => id);

describe('answers', () => {
  test('are found by grade, field, words and campaign, all in the address, newest first, as text', async () => {
    const { loop, answer, get } = await startShown();
    await answer('a', 'Tallinn', 5, 'Quick and FRIENDLY');
    await answer('b', 'Tartu', 2, '<script>alert("bad")</script>');
    await answer('c', 'Tallinn', 3);
    await loop.post(loop.vendor.close('d').delivery);
    await loop.journey('d.1', 'asked');
    const found = async (query: string) => idsIn((await get(`/answers?${query}`)).text);
    const { status, text } = await get('/answers');
    expect(status).toBe(200);
    expect(idsIn(text)).toEqual(['c', 'b', 'a']);
    expect(text).toContain('&lt;script&gt;alert(&quot;bad&quot;)&lt;/script&gt;');
    expect(text).not.toContain('<script>alert');
    expect(await found('from=3')).toEqual(['c', 'a']);
    expect(await found('from=2&to=3')).toEqual(['c', 'b']);
    expect(await found('from=3&to=2')).toEqual(['c', 'b']);
    expect(await found('in.Store=Tallinn')).toEqual(['c', 'a']);
    expect(await found('in.Store=tALLINN')).toEqual(['c', 'a']);
    // Another letter makes another person.
    expect(await found('in.Store=T%C3%A1llinn')).toEqual([]);
    expect(await found('in.Store=Tallinn&words=yes')).toEqual(['a']);
    expect(await found('text=friendly')).toEqual(['a']);
    expect(await found('campaign=12')).toHaveLength(3);
    expect(await found('campaign=13')).toEqual([]);
    expect(await found('source=nobody')).toEqual([]);
    expect(await found('since=2020-01-01&until=2020-02-01')).toEqual([]);
    // The form has what the address has, and so does the file.
    const shown = (await get('/answers?in.Store=Tartu&from=1&words=yes')).text;
    expect(shown).toMatch(/name="in\.Store" value="Tartu"/);
    expect(shown).toMatch(/name="words" value="yes" checked/);
    expect(shown).toContain('href="/answers.csv?from=1&amp;words=yes&amp;in.Store=Tartu"');
    // A value's link narrows the list that is shown.
    const narrowed = (await get('/answers?period=7-days&to=3&in.Store=Tartu')).text;
    expect(narrowed).toContain('href="/answers?period=7-days&amp;to=3&amp;campaign=12&amp;in.Store=Tartu"');
    expect(narrowed).toContain('href="/answers?period=7-days&amp;to=3&amp;in.Store=Tartu">Tartu</a>');
    expect([text, narrowed].map((page) => /\d+ answers?\./.exec(page)?.[0])).toEqual(['3 answers.', '1 answer.']);
    for (const odd of [
      'from=x&to=%00&campaign=-&after=zz',
      'in.=x&in.__proto__=y&in.%3Cb%3E=%22',
      'since=2020-99-99',
    ]) {
      const { status: code, text: page } = await get(`/answers?${odd}`);
      expect([odd, code]).toEqual([odd, 200]);
      expect(page).not.toContain('<b>=');
    }
    expect(JSON.stringify(loop.told)).not.toContain('alert');
  });

  test('are in the file as they are shown, formulas as text', async () => {
    const { loop, answer, get } = await startShown();
    await answer('a', 'Tallinn', 5, '=HYPERLINK("http://evil.example")');
    await answer('b', 'Tartu', 2);
    const file = await get('/answers.csv?from=5');
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="closeloop-answers-[\d-]+-to-[\d-]+\.csv"$/,
    );
    const lines = file.text.trimEnd().split('\r\n');
    expect(lines[0]?.replace('\u{feff}', '')).toBe(
      'answered,grade,of,comment,customer,campaign,source,record,record link,Store,follow-up,follow-up due,follow-up by,follow-up done',
    );
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(
      `,5,5,"'=HYPERLINK(""http://evil.example"")",a@example.com,After support,${loop.store.source},a,,Tallinn,`,
    );
  });

  test('are paged to the end, each once, also those of one millisecond', async () => {
    const { loop, get } = await startShown();
    const ids = Array.from({ length: 120 }, (_, i) => `p${String(i).padStart(3, '0')}`);
    const at = new Date(Date.now() - 60_000);
    for (const [i, recordId] of ids.entries()) {
      const about = { recordId, closing: 'c', closedAt: at, eventKey: 'k', receivedAt: at };
      const { journey } = await loop.store.getOrCreate(about, []);
      const answer = {
        grade: 1 + (i % 5),
        comment: null,
        seenAt: i < 90 ? at : new Date(at.getTime() - i),
        version: 1,
      };
      await loop.store.update(journey, (now) => ({ journey: { ...now, state: 'written', answer }, trace: [] }));
    }
    const seen: string[] = [];
    for (let to: string | undefined = '/answers'; to !== undefined; ) {
      const { text } = await get(to);
      expect(text).not.toMatch(/\d+ answers\./);
      seen.push(...idsIn(text));
      to = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toHaveLength(120);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect((await get('/answers.csv?to=2')).text.trimEnd().split('\r\n')).toHaveLength(49);
  });

  test('move to the top when they are corrected, and go with the person who is erased', async () => {
    const { loop, answer, get } = await startShown();
    await answer('a', 'Tallinn', 2, 'bad');
    await answer('b', 'Tallinn', 5);
    loop.feedback.standin.answer({ contact: 'a@example.com', grade: 4, comment: 'good after all' });
    await expect.poll(async () => (await loop.store.get('a.1'))?.answer?.version).toBe(2);
    expect(idsIn((await get('/answers')).text)).toEqual(['a', 'b']);
    await loop.store.update('a.1', (now) => ({
      journey: { ...now, erasedAt: new Date(), answer: undefined },
      trace: [],
    }));
    expect(idsIn((await get('/answers')).text)).toEqual(['b']);
  });

  test('show who may only look no address, and each its follow-up', async () => {
    const vendor = new ToyVendor();
    // Its records are called by addresses, in whose place there are digests here.
    vendor.vendorIds = async (ids) => ids.map((id) => `${id}@example.com`);
    vendor.recordUrl = (id) => `https://toy.example/${id}`;
    const { loop, get, submit } = await startShown({ users }, vendor);
    await openFollowUps(loop, redis, { a: -3, b: 3 });
    const change = { state: 'done', doneBy: 'anna', doneAt: new Date('2026-05-04T09:00:00Z') } as const;
    const dueAt = new Date('2026-05-04T12:00:00Z');
    await loop.store.update(
      'b.1',
      (now) => now.followUp && { journey: { ...now, followUp: { ...now.followUp, ...change, dueAt } }, trace: [] },
    );
    await submit('/login', { name: 'bob', password: passwords.bob });
    const { text } = await get('/answers');
    expect(text).toMatch(
      new RegExp(`Follow-up: <a href="/follow-ups/${loop.store.source}/a.1">open, 2 hours overdue</a>`),
    );
    expect(text).toContain('a•••@e•••');
    const [, b = '', a = ''] = (await get('/answers.csv')).text.split('\r\n');
    expect(b).toMatch(/,done,2026-05-04T15:00:00\+03:00,anna,2026-05-04T12:00:00\+03:00$/);
    expect(a).toMatch(/,open,20[\d-]+T[\d:]+\+0[23]:00,,$/);
    const journey = (await get(`/journeys/${loop.store.source}/a.1`)).text;
    expect(text + journey + (await get('/answers.csv')).text + (await get('/')).text).not.toContain('a@example.com');
  });
});
