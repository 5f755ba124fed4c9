import type { Source } from '../../core/connector/contract.ts';
import type { ConfiguredSource } from '../config/config.ts';
import type { SnapshotStore } from '../journey/snapshots.ts';
import { unobserved } from '../operations/observer.ts';
import { Outage, vendorEndpoint } from '../operations/outage.ts';
import { watchCalls } from '../operations/watched-calls.ts';
import { budgetAccount, createBudget } from '../redis/budget.ts';
import { isDryRun, nameInEarnest, tagOf } from '../redis/keys.ts';
import { createVault } from '../redis/vault.ts';
import type { EngineOptions } from './engine-options.ts';
import { readingVendor } from './reading-only.ts';

export type SourceOptions = Pick<
  EngineOptions,
  'config' | 'redis' | 'seal' | 'ports' | 'log' | 'vendorTime' | 'observer'
>;

/** The source's names and account, as the steps know it. */
export function namedOf({ name, storedAs, connector, account }: ConfiguredSource) {
  return { name, storedAs, account: account === undefined ? undefined : budgetAccount(connector.name, account) };
}

/** Opens a configured source. `outage`: whether the vendor is down. */
export function openSource(
  configured: ConfiguredSource,
  { snapshots }: { snapshots: SnapshotStore },
  options: SourceOptions,
): { source: Source; outage: Outage } {
  const { redis, log, observer = unobserved } = options;
  const { name } = configured;
  const outage = new Outage(redis, { ...vendorEndpoint(configured), log });
  const watched = watchCalls(connected(configured, { snapshots }, options), outage, {
    isShared: false,
    // These look at a delivery, or at what is stored here, which says nothing of the vendor's API.
    local: ['handshake', 'verify', 'events', 'vendorIds'],
    onCall: (operation, end) => observer.vendorCall(name, operation, end),
  });
  return { source: isDryRun(name) ? readingVendor(watched) : watched, outage };
}

/** With the budget of its vendor's account and its stored secrets. */
function connected(
  configured: ConfiguredSource,
  { snapshots }: { snapshots: SnapshotStore },
  { config, redis, seal, ports, log, vendorTime = { now: () => new Date(), sleep: ports.sleep } }: SourceOptions,
): Source {
  // The vendor's account has one quota and one set of secrets, whoever calls it, and knows closeloop by one address.
  const storedAs = nameInEarnest(configured.storedAs);
  const { account = storedAs } = namedOf(configured);
  const budget = createBudget(redis, { account }, vendorTime);
  const vault = createVault(redis, { tag: tagOf(storedAs), seal }, ports);
  const { publicUrl } = config.http;
  const hookUrl = publicUrl === undefined ? {} : { hookUrl: `${publicUrl}/hooks/${nameInEarnest(configured.name)}` };
  const own = {
    ...ports,
    ...hookUrl,
    now: vendorTime.now,
    log,
    budget,
    vault,
    snapshots,
    digest: (text: string) => seal.digest(`id ${text}`),
  };
  return configured.open(own);
}
