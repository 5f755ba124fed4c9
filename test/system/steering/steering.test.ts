import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { askIn, jobs, logged, startInstallation } from '../../support/installation.ts';
import { until } from '../../support/loop.ts';
import { useRedis } from '../../support/redis.ts';
import { scrape } from '../../support/worker/operations/scrape.ts';
import { makeNewerVersion } from '../chaos/newer-version.ts';

const redis = useRedis();
const closings = 400;

/** Issue 13, "done when" 2: by the commands of deploy/compose.yaml, started by hand. */
test('an installation that is upgraded, paused and reloaded under load loses nothing and asks nobody twice', async () => {
  const installation = await startInstallation(redis);
  const { configure, finish, say, askedIn, start, feedback } = installation;
  const sources = { crew: jobs(askIn(41)), fleet: jobs(askIn(41)) };
  configure(sources);
  const intake = start('intake');
  const [old, stays] = [start('worker'), start('worker')];
  const url = await intake.url();
  await Promise.all([old, stays].map((worker) => logged(worker, 'started')));
  const acknowledged: { source: string; name: string; at: number }[] = [];
  const load = (async () => {
    for (let n = 0; n < closings; n++) {
      const [source, name] = [n % 2 === 0 ? 'crew' : 'fleet', `customer-${n}`];
      // As vendors do: what is not acknowledged comes again.
      while ((await finish(url, source, name).catch(() => 0)) !== 202) await sleep(20);
      acknowledged.push({ source, name, at: n });
      await sleep(10);
    }
  })();

  await until(() => feedback.requests().length > 10);
  expect(await say('source', 'pause', 'fleet', '--step', 'ask', '--why', 'wrong text')).toMatchObject({ code: 0 });

  const entry = makeNewerVersion(join(installation.dir, 'newer'));
  const young = start('worker', entry);
  await logged(young, 'started');
  expect(await old.stop()).toBe(0);

  configure({ ...sources, crew: jobs('{ name: all, campaign: none, contact: customer.email }') });
  for (const one of [intake, stays, young]) one.child.kill('SIGHUP');
  const refused = 'the configuration could not be reloaded: the process goes on with the one that it has';
  await Promise.all([intake, stays, young].map((one) => logged(one, refused)));

  configure({ ...sources, crew: jobs(askIn(42)) });
  for (const one of [stays, young]) one.child.kill('SIGHUP');
  await Promise.all([stays, young].map((one) => logged(one, 'the configuration was reloaded')));
  const reloaded = acknowledged.length;
  const [{ metrics } = {}] = await logged(stays, 'started');
  const { of } = await scrape(String(metrics).replace(/\/metrics$/, ''));
  expect(of('closeloop_stopped{source="fleet",step="ask"}')).toBe(1);
  expect(of('closeloop_stopped{source="crew",step="ask"}')).toBe(0);
  const differing = async () => {
    const { rows } = await say('status');
    return JSON.stringify(rows.at(-1)?.problems).includes('1 of 3 go by another configuration than this file') && rows;
  };
  const shown = await until(differing);
  expect(shown.find(({ source }) => source === 'fleet')).toMatchObject({
    paused: [{ stage: 'ask', why: 'wrong text', by: expect.stringMatching(/.@./) }],
    lastDelivery: expect.any(String),
  });
  expect(shown.find((row) => 'processes' in row)).toMatchObject({
    processes: expect.arrayContaining([
      expect.objectContaining({ role: 'intake', pid: intake.child.pid }),
      expect.objectContaining({ role: 'worker', pid: stays.child.pid }),
      expect.objectContaining({ role: 'worker', pid: young.child.pid }),
    ]),
  });
  intake.child.kill('SIGHUP');
  await logged(intake, 'the configuration was reloaded');
  const beforeResume = feedback.requests().length;
  expect(await say('source', 'resume', 'fleet')).toMatchObject({ code: 0 });
  await load;
  await until(() => acknowledged.every(({ name }) => askedIn(name).length > 0));
  expect(beforeResume).toBeLessThan(closings);

  // Once each, and by the rule that held.
  expect(acknowledged.filter(({ name }) => askedIn(name).length !== 1)).toEqual([]);
  const crew = acknowledged.filter(({ source }) => source === 'crew');
  const by = (campaign: number) => crew.filter(({ name }) => askedIn(name)[0] === campaign);
  expect(by(41).every(({ at }) => at <= reloaded)).toBe(true);
  expect(crew.filter(({ at }) => at > reloaded).length).toBe(by(42).filter(({ at }) => at > reloaded).length);
  expect(feedback.requests()).toHaveLength(closings);
  for (const one of [intake, stays, young]) expect(await one.stop()).toBe(0);
  expect((await say('status')).rows.at(-1)).toMatchObject({ processes: [] });
});
