import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startFeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { writing } from '../../../support/generated-day.ts';
import { openLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';

const redis = useRedis();

const rules = fc.constantFrom(
  '{ name: all, campaign: 12, contact: customer.email, fields: { Store: ticket.store } }',
  '{ name: all, campaign: 12, contact: customer.email, again: each closing, throttle: 1h }',
  '{ name: all, campaign: 14, contact: [customer.phone, customer.email] }',
  '{ name: all, campaign: 15, contact: ticket.id }',
  '{ name: all, campaign: 12, contact: customer.email, test: { email: me@acme.com } }',
);
const general = fc.constantFrom('', 'expireAfter: 1s', 'policy: { cap: { hour: 2 } }');
/** What vendors tell of. */
const events = fc.array(
  fc.record({
    kind: fc.constantFrom('closed', 'closed', 'closed', 'reopened', 'merged', 'external-grade', 'survey', 'erase'),
    record: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 5, maxLength: 15 },
);

test('a dry run, whatever it is configured to do and told of, calls nothing that writes at the service or at the vendor', async () => {
  let withheld = 0;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(rules, general, events, async (rule, more, told) => {
      const feedback = await startFeedbackStandin({ seed: true });
      const vendor = Object.assign(new ToyVendor(), { writesNoAnswer: true, bringsExternalGrades: true });
      const source = `dry-${++run}`;
      const loop = await openLoop(redis, { source, rule, general: more, vendor, feedback, dryRun: true });
      try {
        for (const [i, { kind, record }] of told.entries()) {
          const delivery = deliveryOf(kind, `r${record}`, i, vendor);
          // On a machine with too much to do one may not be stored in time: vendors repeat it.
          await until(async () => (await loop.post(delivery)).status === 202);
        }
        await until(async () => (await loop.app.engine.busy()) === 0);
        withheld += (await loop.store.lists.counts()).withheld;
      } finally {
        await loop.close();
        await feedback.close();
      }
      expect(writing({ calls: feedback.standin.calls(), vendor })).toEqual([]);
    }),
    { numRuns: 6, endOnFailure: true },
  );
  // They do lead somewhere.
  expect(withheld).toBeGreaterThan(3);
});

function deliveryOf(kind: string, id: string, n: number, vendor: ToyVendor): string {
  const at = new Date();
  const plain = (event: object) => JSON.stringify({ plain: [{ at, ...event }] });
  const key = `event ${n}`;
  switch (kind) {
    case 'reopened':
      vendor.close(id, { state: { is: 'open' } });
      return vendor.delivery([{ kind: 'changed', id, at, key }]);
    case 'merged':
      return vendor.delivery([{ kind: 'changed', id, at, key, mergedInto: 'r0' }]);
    case 'external-grade':
      return plain({ kind, recordId: id, grade: 4, comment: null });
    case 'survey':
      return plain({ kind, requestId: '1', answers: { 1: 'yes' } });
    case 'erase':
      return plain({ kind, contacts: [`${id}@example.com`], recordIds: [id] });
    default:
      return vendor.close(id).delivery;
  }
}
