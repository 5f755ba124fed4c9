import type { Budget, ConnectorPorts } from '../../../core/connector/contract.ts';
import { endlessPoints } from './memory-points.ts';
import { memorySnapshots } from './memory-snapshots.ts';
import { memoryVault } from './memory-vault.ts';
import { testDigest } from './test-digest.ts';

type Own = Partial<Omit<ConnectorPorts, 'budget'>> & { budget?: Partial<Budget> };

/** Real fetch, real clock, a budget that lets everybody through, sleeps that end at once, a log that nobody reads. */
export function quietPorts({ budget, ...own }: Own = {}): ConnectorPorts {
  const silent = () => undefined;
  const nothing = async () => undefined;
  return {
    fetch: globalThis.fetch,
    now: () => new Date(),
    random: () => 0.5,
    sleep: nothing,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    budget: { take: nothing, takePoints: endlessPoints, pause: nothing, reportRemaining: nothing, ...budget },
    snapshots: memorySnapshots(),
    digest: testDigest,
    vault: memoryVault(),
    ...own,
  };
}
