import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../../../worker/redis/file-lock.ts';
import { cachedAs } from '../../support/debian-packages.ts';

/**
 * A folder of the tests' cache, filled once for all processes of this user: a second one waits for the first. What was
 * interrupted is made again.
 * @param from all that decides what will be in it: with something else it is another folder
 */
export async function madeOnce(
  name: string,
  from: readonly string[],
  make: (draft: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(from)).digest('hex').slice(0, 8);
  const place = cachedAs(`${name}-${digest}`);
  const draft = `${place}.draft`;
  while (!existsSync(place)) {
    const lock = await takeLock(`${place}.lock`);
    if (!lock.free) {
      await sleep(200);
      continue;
    }
    try {
      if (existsSync(place)) break;
      await rm(draft, { recursive: true, force: true });
      await mkdir(draft, { recursive: true });
      await make(draft);
      await rename(draft, place);
    } finally {
      await rm(draft, { recursive: true, force: true });
      await lock.release();
    }
  }
  return place;
}
