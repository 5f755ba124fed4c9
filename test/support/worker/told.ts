import type { Journey } from '../../../worker/journey/journey.ts';
import { step } from '../../../worker/journey/transitions.ts';
import { asking, type UnitContext, type useManual } from '../manual.ts';
import { ToyVendor } from '../toy-connector.ts';

export const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;

type UnitOptions = NonNullable<Parameters<ReturnType<typeof useManual>['unitContext']>[0]>;

/** A source whose webhooks are told, with steps that tests take by hand. */
export function telling(manual: ReturnType<typeof useManual>, webhooks: string, options: UnitOptions = {}) {
  const vendor = options.vendor ?? new ToyVendor();
  vendor.recordUrl ??= (id) => `https://desk.example/tickets/${id}`;
  const general = `webhooks: [${webhooks}]\n${options.general ?? ''}`;
  const unit = manual.unitContext({ ...options, vendor, general });
  const { engine, store } = unit;
  return {
    ...unit,
    ask: (record: string): Promise<Journey> => asking(unit, record),
    answer: (record: string, grade: number, version = 1, comment: string | null = 'late') =>
      answer(unit, record, { grade, version, comment }),
    /** Outside the queues: each attempt ends with what it throws. */
    send: async (record: string) => {
      for (const stage of engine.sending.stages) await stage.run({ source: 'calm', recordId: record });
    },
    counts: (webhook: string) => store.outgoing.counts(`webhook.${webhook}`),
  };
}

async function answer(
  { store }: Pick<UnitContext, 'store'>,
  record: string,
  { grade, version, comment }: { grade: number; version: number; comment: string | null },
) {
  await store.update(`${record}.1`, (now) => ({
    journey: step(now, 'answered', new Date(), { answer: { grade, comment, seenAt: new Date(), version } }),
    trace: [],
  }));
}
