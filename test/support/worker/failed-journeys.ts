import type { Loop } from '../loop.ts';

/** Journeys of these records that the service has refused, each with a number of its own; their records have a customer by now. */
export async function failJourneys({ closeAll, journey, store, vendor }: Loop, ids: readonly string[]): Promise<void> {
  await closeAll(ids, { customer: {} });
  for (const [i, id] of ids.entries()) {
    const { reason: _, ...rest } = await journey(`${id}.1`, 'skipped');
    const failed = { ...rest, state: 'failed' as const, why: `the service refuses request ${100 + i}` };
    await store.update(`${id}.1`, () => ({ journey: failed, trace: [] }));
    const record = vendor.records.get(id);
    if (record) vendor.records.set(id, { ...record, customer: { email: `${id}@example.com` } });
  }
}
