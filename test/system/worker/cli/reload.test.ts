import { readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { askIn, jobs, logged, startInstallation } from '../../../support/installation.ts';
import { until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const reloaded = 'the configuration was reloaded';
const refused = 'the configuration could not be reloaded: the process goes on with the one that it has';
const same = 'the configuration was read again: nothing has changed';

test('a rule that was changed counts from the reload on, and a source that was added takes deliveries', async () => {
  const installation = await startInstallation(redis);
  const { configure, finish, askedIn } = installation;
  configure({ crew: jobs(askIn(41)) });
  const all = installation.start('all');
  const url = await all.url();
  expect(await finish(url, 'crew', 'ann')).toBe(202);
  await until(() => askedIn('ann').length > 0);
  expect(await finish(url, 'fleet', 'bob')).toBe(404);

  configure({ crew: jobs(askIn(42)), fleet: jobs(askIn(42)) });
  all.child.kill('SIGHUP');
  expect((await logged(all, reloaded))[0]?.changed).toEqual(['sources.crew.rules[0].campaign', 'sources.fleet']);
  for (const [source, name] of [
    ['crew', 'cleo'],
    ['fleet', 'dan'],
  ] as const) {
    expect(await finish(url, source, name)).toBe(202);
    await until(() => askedIn(name).length > 0);
  }
  expect(['ann', 'cleo', 'dan'].map(askedIn)).toEqual([[41], [42], [42]]);

  configure({ fleet: jobs(askIn(42)) });
  all.child.kill('SIGHUP');
  expect((await logged(all, reloaded, 2))[1]?.changed).toEqual(['sources.crew']);
  expect(await finish(url, 'crew', 'eve')).toBe(404);
  expect(await all.stop()).toBe(0);
});

test('a configuration that is wrong or gone changes nothing, and is told; mended, the next signal takes it', async () => {
  const installation = await startInstallation(redis);
  const { configure, finish, askedIn, file } = installation;
  const name = 'wrong';
  configure({ [name]: jobs(askIn(41)) });
  const all = installation.start('all');
  const url = await all.url();
  configure({ [name]: jobs('{ name: all, campaign: twelve, contact: customer.email }') });
  all.child.kill('SIGHUP');
  expect((await logged(all, refused))[0]?.why).toMatch(/sources\.wrong\.rules\[0\]\.campaign/);
  rmSync(file);
  all.child.kill('SIGHUP');
  expect((await logged(all, refused, 2))[1]?.why).toMatch(/closeloop.yaml can't be read/);
  expect(await finish(url, name, 'fay')).toBe(202);
  await until(() => askedIn('fay').length > 0);
  configure({ [name]: jobs(askIn(42)) });
  all.child.kill('SIGHUP');
  await logged(all, reloaded);
  await finish(url, name, 'gus');
  await until(() => askedIn('gus').length > 0);
  expect([askedIn('fay'), askedIn('gus')]).toEqual([[41], [42]]);
  expect(await all.stop()).toBe(0);
});

test('what only a start can change is named, and goes on as it was', async () => {
  const installation = await startInstallation(redis);
  const sources = { stays: jobs(askIn(41)) };
  installation.configure(sources);
  const all = installation.start('all');
  const url = await all.url();
  installation.configure(sources, 'admin: { port: 1 }\nmarker: journey');
  all.child.kill('SIGHUP');
  expect((await logged(all, 'these settings count from the next start on'))[0]?.settings).toEqual(['admin']);
  expect((await logged(all, reloaded))[0]?.changed).toEqual(['marker']);
  expect(await installation.finish(url, 'stays', 'hal')).toBe(202);
  await until(() => installation.askedIn('hal').length > 0);
  all.child.kill('SIGHUP');
  await logged(all, same);
  expect(await all.stop()).toBe(0);
});

/** By what the kernel says of the process' signals: SIGHUP is the first bit of those that it catches. */
function listensForReloads(pid: number): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${caught}`) & 1n) === 1n;
}

test('signals that come quickly, at the start or at the end do no harm', async () => {
  const installation = await startInstallation(redis);
  const { configure, finish, askedIn } = installation;
  configure({ quick: jobs(askIn(41)) });
  const all = installation.start('all');
  // Whether its embedder's own start is over can't be seen from outside: as soon as it listens for the signal, it starts.
  await until(() => listensForReloads(all.child.pid ?? 0));
  for (let i = 0; i < 20; i++) all.child.kill('SIGHUP');
  const url = await all.url();
  for (let i = 0; i < 20; i++) {
    configure({ quick: jobs(askIn(i % 2 === 0 ? 42 : 41)) });
    all.child.kill('SIGHUP');
  }
  configure({ quick: jobs(askIn(42)) });
  all.child.kill('SIGHUP');
  await logged(all, reloaded);
  await until(async () => (await finish(url, 'quick', 'ian')) === 202);
  await until(() => askedIn('ian').length > 0);
  all.child.kill('SIGHUP');
  all.child.kill('SIGTERM');
  expect(await all.ended).toBe(0);
  expect(askedIn('ian')).toHaveLength(1);
});
