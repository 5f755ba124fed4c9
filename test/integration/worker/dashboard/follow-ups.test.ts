import { beforeEach, describe, expect, test } from 'vitest';
import { followUpPage } from '../../../../worker/support/follow-ups.ts';
import type { Place } from '../../../../worker/support/journey-pages.ts';
import { startLoop } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { hashOf, passwords, users } from '../../../support/worker/dashboard/users.ts';
import { visitorOf } from '../../../support/worker/dashboard/visitor.ts';
import { openFollowUps } from '../../../support/worker/follow-ups.ts';

const redis = useRedis();
let sources = 0;

// What others have tried from this address says nothing about the next test.
beforeEach(() => redis.handle.client.flushall());

async function startShown(due: Record<string, number>, general: object = {}) {
  const source = `unhappy-${++sources}`;
  const vendor = Object.assign(new ToyVendor(), { account: source });
  vendor.recordUrl = (record) => `https://toy.example/records/${record}`;
  const loop = await startLoop(redis, {
    ...{ source, vendor },
    general: `dashboard: ${JSON.stringify({ port: 0, ...general })}`,
  });
  const lists = await openFollowUps(loop, redis, due);
  return { loop, source, lists, ...personAt(loop.app, source) };
}

/** Somebody with a browser of their own. */
function personAt(app: Parameters<typeof visitorOf>[0], source: string) {
  const visitor = visitorOf(app);
  const act = async (id: string, deed: string, fields: Record<string, string> = {}) => {
    const { text } = await visitor.get('/follow-ups');
    const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
    return await visitor.post(`/follow-ups/${source}/${id}.1/${deed}`, { csrf, to: '/follow-ups', ...fields });
  };
  const login = (name: keyof typeof passwords) => visitor.submit('/login', { name, password: passwords[name] });
  return { ...visitor, act, login };
}

/** Of the cards, in their order. */
const shownIn = (text: string): string[] =>
  [...text.matchAll(/<li class="card[\s\S]*?href="\/journeys\/[^/]+\/([^"]+)\.1"/g)].map(([, id = '']) => id);

describe('follow-ups', () => {
  test('are shown the most overdue first, with grade, words, record and when they are due', async () => {
    const { loop, source, get } = await startShown({ a: 3, b: -3, c: -50 });
    await loop.store.update('c.1', (now) => ({
      journey: {
        ...now,
        values: { Store: 'Tartu & <co>' },
        answer: { ...now.answer, comment: '<script>x</script>' } as never,
      },
      trace: [],
    }));
    const { status, text } = await get('/follow-ups');
    expect(status).toBe(200);
    expect(shownIn(text)).toEqual(['c', 'b', 'a']);
    expect(text).toContain('<b>2</b> of 5');
    expect(text).toMatch(/<li class="card bad">[\s\S]*<span class="state bad">2 hours overdue<\/span>/);
    expect(text).toContain('<span class="state wait">due in 3 hours</span>');
    expect(text).toContain('&lt;script&gt;x&lt;/script&gt;');
    expect(text).not.toContain('<script>x');
    expect(text).toContain(`<a href="https://toy.example/records/c" rel="noreferrer">${source} c</a>`);
    expect(text).toContain('href="/answers?in.Store=Tartu+%26+%3Cco%3E"');
    expect(shownIn((await get('/follow-ups?show=overdue')).text)).toEqual(['c', 'b']);
    expect(shownIn((await get(`/follow-ups?source=nobody`)).text)).toEqual([]);
    for (const odd of ['show=none&after=%00&did=x', 'after=1~x&source=%27']) {
      expect((await get(`/follow-ups?${odd}`)).status).toBe(200);
    }
    // Counted beside the list, which does not wait for it.
    await expect
      .poll(async () => (await get('/follow-ups')).text)
      .toMatch(
        /<dt>Opened in 30 days<\/dt><dd>3[\s\S]*<dt>Done<\/dt><dd>0[\s\S]*>0 % <small class="quiet">0 of 2 that are done or overdue<[\s\S]*3 not taken up yet/,
      );
    // First in the menu, with how many there are.
    expect((await get('/settings')).text).toMatch(
      /<ul><li><a class="tab" href="\/follow-ups">Follow-up <span class="count bad">3</,
    );
  });

  test('are taken, done with words and reopened, noted without the words', async () => {
    const { loop, source, get, act } = await startShown({ a: 1 });
    expect(await act('a', 'take')).toMatchObject({ status: 303, to: `/follow-ups?did=take&of=${source}%2Fa.1` });
    const told = /role="status">.* has taken <a [^>]+>unhappy-\d+\/a.1<\/a>\./;
    expect((await get(`/follow-ups?did=take&of=${source}%2Fa.1`)).text).toMatch(told);
    // Nothing is told that is not so, or of a follow-up that is not there.
    for (const odd of [`did=done&of=${source}%2Fa.1`, `did=reopen&of=${source}%2Fa.1`, `did=take&of=${source}%2Fz.1`])
      expect((await get(`/follow-ups?${odd}`)).text).not.toContain('role="status"');
    expect(shownIn((await get('/follow-ups?show=mine')).text)).toEqual(['a']);
    expect(await act('a', 'done', { outcome: ' ' })).toMatchObject({
      status: 409,
      text: expect.stringContaining('Say what was done'),
    });
    expect((await act('a', 'done', { outcome: 'her <b>dog</b> was ill' })).status).toBe(303);
    expect((await get('/follow-ups')).text).toContain('Nobody waits for a person');
    const { text } = await get('/follow-ups?show=done');
    expect(text).toContain('her &lt;b&gt;dog&lt;/b&gt; was ill');
    expect((await get('/settings')).text).not.toMatch(/dog|<span class="count/);
    const again = (await get(`/follow-ups/${source}/a.1`)).text;
    const csrf = /name="csrf" value="([^"]*)"/.exec(again)?.[1] ?? '';
    const { post } = { post: act };
    expect(csrf).not.toBe('');
    expect((await post('a', 'reopen', { csrf })).status).toBe(303);
    expect(await loop.store.get('a.1')).toMatchObject({
      followUp: { state: 'open', outcome: 'her <b>dog</b> was ill' },
    });
    const settings = (await get('/settings')).text;
    expect(settings.match(/>follow-up: (take|done|reopen)[^<]*<\/td>/g)).toHaveLength(5);
    expect(JSON.stringify(loop.told)).not.toContain('dog');
  });

  test('are shown to the agent whom they are meant for, with the grade that opened one before it was corrected', async () => {
    const { loop, get, login } = await startShown({ a: 1, b: 2 }, { users });
    await login('anna');
    expect((await get('/follow-ups?show=mine')).text).toContain('none is meant for you');
    await loop.store.update('a.1', (now) => {
      const { answer, followUp } = now;
      return (
        answer &&
        followUp && {
          journey: {
            ...now,
            answer: { ...answer, grade: 5, version: 2 },
            followUp: { ...followUp, agent: 'anna', openingGrade: 2 },
          },
          trace: [],
        }
      );
    });
    const { text } = await get('/follow-ups?show=mine');
    expect(shownIn(text)).toEqual(['a']);
    expect(text).toContain('<b>5</b> of 5</span> <span class="quiet">was 2 of 5</span>');
    expect(text).toContain('For anna. Nobody has taken it.');
    expect((await get('/')).text).toContain('was 2 of 5');
    expect((await get('/follow-ups')).text).toContain('For the agent of the record. Nobody has taken it.');
  });

  test('are paged, each once, also where many are due at one instant', async () => {
    const { loop, get, lists } = await startShown({});
    const ids = Array.from({ length: 60 }, (_, i) => `p${String(i).padStart(2, '0')}`);
    await loop.closeAll(ids);
    const dueAt = new Date(Date.now() + 3_600_000);
    for (const [i, id] of ids.entries()) {
      await loop.journey(`${id}.1`, 'asked');
      const at = i < 40 ? dueAt : new Date(dueAt.getTime() + i);
      const followUp = { state: 'open' as const, rule: 'unhappy', to: 'agent', openedAt: new Date(), dueAt: at };
      await loop.store.update(`${id}.1`, (now) => ({ journey: { ...now, followUp }, trace: [] }));
      await lists.put('open', `${id}.1`, at);
    }
    const seen: string[] = [];
    for (let to: string | undefined = '/follow-ups'; to !== undefined; ) {
      const { text } = await get(to);
      seen.push(...shownIn(text));
      to = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(ids);
    // Whose they are only their journeys say: so many are looked at for a page, and none is passed over.
    const theirs = ids.filter((_, i) => i % 25 === 7);
    for (const id of theirs)
      await loop.store.update(
        `${id}.1`,
        (now) => now.followUp && { journey: { ...now, followUp: { ...now.followUp, to: 'Maria' } }, trace: [] },
      );
    const source = { name: loop.store.source, store: loop.store, followUps: lists };
    const reading = { now: new Date(), size: 2, most: 10 };
    const found: string[] = [];
    let pages = 0;
    let after: Place | undefined;
    do {
      const page = await followUpPage([source], { mine: 'Maria' }, { ...reading, after });
      found.push(...page.found.map(({ journey }) => journey.recordId));
      pages += 1;
      after = page.next;
    } while (after !== undefined);
    expect(found).toEqual(theirs);
    expect(pages).toBeGreaterThan(5);
  });

  test("are one person's: a second is refused, and told who has it; who may only look has no form, and sees no address", async () => {
    const more = [{ name: 'carl', role: 'act', password: hashOf(passwords.anna) }];
    const { loop, source, act, login, get } = await startShown({ a: 1 }, { users: [...users, ...more] });
    await login('anna');
    expect((await act('a', 'take')).status).toBe(303);
    expect((await get('/follow-ups')).text).toContain('a@example.com');
    const carl = personAt(loop.app, source);
    await carl.submit('/login', { name: 'carl', password: passwords.anna });
    expect(await carl.act('a', 'take')).toMatchObject({
      status: 409,
      text: expect.stringContaining('anna has taken it'),
    });
    // Whoever opens the address learns who has it.
    expect((await carl.get(`/follow-ups?did=take&of=${source}%2Fa.1`)).text).toMatch(/anna has taken <a/);
    const { status, text: refusal } = await carl.act('a', 'done', { outcome: 'called <her>' });
    expect(status).toBe(409);
    expect(refusal).toMatch(/anna has taken it at <time[^>]*>[^<]+<\/time>; to take it over, give it back first/);
    expect(refusal).toMatch(
      /<textarea [^>]*readonly>called &lt;her&gt;<\/textarea>[\s\S]*<a href="\/follow-ups">Follow-up<\/a>/,
    );
    const bob = personAt(loop.app, source);
    await bob.login('bob');
    const { text } = await bob.get('/follow-ups');
    expect(shownIn(text)).toEqual(['a']);
    expect(text).not.toMatch(/<form method="post"|a@example\.com/);
    expect(text).toContain('a•••@e•••');
    expect((await bob.get(`/journeys/${source}/a.1`)).text).not.toContain('a@example.com');
    expect(await bob.act('a', 'reopen')).toMatchObject({ status: 403 });
    expect(await loop.store.get('a.1')).toMatchObject({ followUp: { state: 'taken', takenBy: 'anna' } });
  });

  test('keep what was typed where the session has ended meanwhile, but for no other site', async () => {
    const { loop, source, act, login, cookies } = await startShown({ a: 1 }, { users });
    await login('anna');
    const outcome = 'called <her>,\nsent a cup';
    const deed = `/follow-ups/${source}/a.1/done`;
    const stranger = personAt(loop.app, source);
    cookies.clear();
    for (const { status, text } of [await act('a', 'done', { outcome }), await stranger.post(deed, { outcome })]) {
      expect(status).toBe(401);
      expect(text).toContain('readonly>called &lt;her&gt;,\nsent a cup</textarea>');
      expect(text).toContain('<a href="/follow-ups">Follow-up</a>');
    }
    const elsewhere = await stranger.post(deed, { outcome }, { origin: 'https://evil.example' });
    expect([elsewhere.status, elsewhere.text]).toEqual([401, expect.not.stringContaining('called')]);
    const wrong = await stranger.post('/login', { name: 'anna', password: 'x', why: '' });
    expect([wrong.status, wrong.text]).toEqual([403, expect.not.stringContaining('readonly')]);
    expect(await loop.store.get('a.1')).toMatchObject({ followUp: { state: 'open' } });
  });

  test.each([
    ['without a token', { csrf: '' }],
    ['with a token of nobody', { csrf: 'A'.repeat(43) }],
  ])('are left alone by a form %s', async (_, fields) => {
    const { loop, act } = await startShown({ a: 1 });
    expect(await act('a', 'take', fields)).toMatchObject({ status: 403 });
    expect(await loop.store.get('a.1')).toMatchObject({ followUp: { state: 'open' } });
  });

  test('lead nowhere else after a form', async () => {
    const { act, get, source } = await startShown({ a: 1, b: 2 });
    expect((await act('a', 'take', { to: 'https://evil.example/x' })).to).toBe(`/?did=take&of=${source}%2Fa.1`);
    expect((await act('b', 'take', { to: '//evil.example/x' })).to).toMatch(/^\/\?did/);
    for (const path of [`/follow-ups/${source}/z.1`, '/follow-ups/nobody/a.1'])
      expect(await get(path)).toMatchObject({
        status: 404,
        text: expect.stringMatching(
          /There is no journey &quot;.*it was removed, or the address is wrong\.[\s\S]*>Follow-up<\/a>/,
        ),
      });
    expect((await act('a', 'explode')).status).toBe(404);
  });
});
