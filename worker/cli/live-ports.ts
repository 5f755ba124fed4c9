import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from '../../core/ports.ts';

export const livePorts: Ports = {
  fetch: globalThis.fetch,
  now: () => new Date(),
  random: Math.random,
  sleep: (ms) => sleep(ms),
};
