import { expect, test } from 'vitest';
import { CloseloopError } from '../../../../core/errors.ts';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('a stage that stopped is tried again by the next sweep, however often there is one', async () => {
  const loop = await startLoop(redis, { source: 'stopped' });
  loop.vendor.failures.read.push(new CloseloopError('the key is inactive', { kind: 'config' }));
  await loop.asked('mended');
  await until(() => loop.told.some(({ message }) => message === 'goes on'));
  expect(loop.told.filter(({ message }) => message.startsWith('paused: '))).toHaveLength(1);
});
