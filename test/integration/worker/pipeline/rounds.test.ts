import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { serve } from '../../../../standins/kit/server.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import { connect } from '../../../../worker/redis/connection.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

test('alerts go out, and the other sources forget what is old, though a step of the round fails', async () => {
  let alerts = 0;
  const receiver = await serve(() => {
    alerts++;
    return { status: 204 };
  });
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  const general = `alerts: { url: "${receiver.url}", secrets: ["${secret}"] }`;
  const loop = await startLoop(redis, { source: 'broken', others: ['whole'], general });
  const { context } = loop.app.engine.pipelines.get('whole') ?? expect.fail('no pipeline');
  await redis.handle.client.set('{cl:broken}:state:expired', 'not what it should be');
  await redis.handle.client.hset('{cl}:paused', 'collect', 'not what it should be');
  await loop.post(loop.vendor.close('old').delivery, {}, 'whole');
  await until(async () => (await context.store.get('old.1'))?.state === 'asked');
  await context.store.update('old.1', (now) => ({ journey: step(now, 'expired', daysAgo(500)), trace: ['made old'] }));
  await context.alert('given-up', 'a reason', 'a remedy');
  await until(() => alerts > 0);
  await until(async () => (await context.store.get('old.1')) === undefined);
  const hasFailed = (source: string, step: string) => () =>
    loop.told.some(
      ({ message, fields }) => message === 'sweep failed' && fields.source === source && fields.step === step,
    );
  await until(hasFailed('broken', 'sweep'));
  await until(hasFailed('collect', 'probe'));
  await redis.handle.client.del('{cl:broken}:state:expired', '{cl}:paused');
  await loop.close();
  await receiver.close();
});

test('closing waits for the round that is under way: nothing of it fails because Redis is closed afterwards', async () => {
  let isAnswered = false;
  const asked: string[] = [];
  const receiver = await serve(async ({ path }) => {
    asked.push(path);
    await sleep(500);
    isAnswered = true;
    return { status: 204 };
  });
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  const general = `alerts: { url: "${receiver.url}", secrets: ["${secret}"] }`;
  const own = connect({ path: redis.socket }, () => undefined);
  const loop = await startLoop({ handle: own, socket: redis.socket }, { source: 'ends', general });
  const { context } = loop.app.engine.pipelines.get('ends') ?? expect.fail('no pipeline');
  await context.alert('to-do', 'a reason', 'a remedy');
  await until(() => asked.length > 0);
  await loop.close();
  expect(isAnswered).toBe(true);
  await own.close();
  await receiver.close();
  expect(loop.told.filter(({ message }) => message === 'sweep failed')).toEqual([]);
});
