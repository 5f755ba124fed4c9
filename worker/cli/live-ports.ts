import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../../core/connector/exchange.ts';
import type { Ports } from '../../core/ports.ts';

export const livePorts: Ports = {
  fetch: exchange,
  now: () => new Date(),
  random: Math.random,
  sleep: (ms) => sleep(ms),
};
