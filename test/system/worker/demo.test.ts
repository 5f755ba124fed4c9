import { once } from 'node:events';
import { expect, test } from 'vitest';
import { background } from '../../support/processes.ts';

test('the demo shows each answer on its ticket as it happens, and on Ctrl-C what it came to', async () => {
  const demo = background(['start', '--demo']);
  const ended = once(demo.child, 'close');
  await demo.says(/on ticket +1001 +grade 5, “Quick and friendly\.”/);
  await demo.says(/written +support\/1001\.1/);
  demo.child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  // Where a Redis had to be fetched, that is said before.
  expect(demo.output()).toMatch(/^(No Redis .*\n)?See it in a browser: http/);
  expect(demo.output()).toMatch(
    /What has become of the tickets so far:\n[\s\S]*support\/1001\.1 {2}(?:answered|written)/,
  );
  expect(demo.output()).toMatch(/\n\d+ closings, \d+ feedback requests, \d+ grades on tickets\.\n/);
  expect(demo.output()).not.toMatch(/undefined|null/);
  expect(demo.errors()).toBe('');
});
