import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../../../core/errors.ts';
import { CloseloopError } from '../../../../../core/errors.ts';
import { ask } from '../../../../../worker/pipeline/ask/ask.ts';
import { plan } from '../../../../../worker/pipeline/plan/plan.ts';
import { writeBack } from '../../../../../worker/pipeline/write-back/write-back.ts';
import { replay } from '../../../../../worker/support/repair.ts';
import { eventOf, open, useManual } from '../../../../support/manual.ts';

const service = useManual();
const { unitContext } = service;

const contact = { email: 'me@acme.com', phone: '+37255500001', identifier: 'the tester' };
const testers = new Set(Object.values(contact));
const written = JSON.stringify(contact);

/** Test mode for everything, or for a rule; with each kind of contact, or some of them. */
const places = ['policy', 'rule', 'both'] as const;
const kinds = [written, `{ email: ${contact.email} }`, `{ phone: "${contact.phone}" }`];
const campaigns = [12, 14, 15];
const rules = ['', ', throttle: 30d', ', again: each closing', ', sample: 50%', ', delay: 0s, maxAge: false'];
/** What may happen to a closing, in any order. */
const steps = ['plan', 'backfill', 'ask', 'lost', 'never-sent', 'refused', 'reopen', 'replay', 'write'] as const;
const outcomes: Partial<Record<(typeof steps)[number], Outcome>> = {
  lost: 'unknown',
  'never-sent': 'never-sent',
  refused: 'refused',
};

const configurations = fc.record({
  place: fc.constantFrom(...places),
  kind: fc.constantFrom(...kinds),
  campaign: fc.constantFrom(...campaigns),
  more: fc.constantFrom(...rules),
  path: fc.array(fc.constantFrom(...steps), { minLength: 2, maxLength: 9 }),
});

test('no configuration and no path reaches a customer in test mode, or writes anything at the vendor', async () => {
  let sent = 0;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(configurations, async ({ place, kind, campaign, more, path }) => {
      const before = service.standin.requests().length;
      const inRule = place === 'policy' ? '' : `, test: ${kind}`;
      const rule = `{ name: all, campaign: ${campaign}, contact: [customer.phone, customer.email]${more}${inRule} }`;
      const hours = 'sms: { from: "00:00", until: "24:00" }';
      const general = place === 'rule' ? `policy: { ${hours} }` : `policy: { test: ${kind}, ${hours} }`;
      const { context, store, vendor } = unitContext({ rule, general, source: `calm-${++run}` });
      const customer = { phone: `+3725551${String(1_000 + run)}`, email: `customer-${run}@example.com` };
      vendor.close('a', { customer });
      const { create } = context.feedback;
      for (const step of ['plan' as const, ...path, 'ask' as const]) {
        const outcome = outcomes[step];
        const failing: typeof create = async (...call) => {
          if (outcome === 'unknown') await create(...call);
          throw new CloseloopError('toy: no', { kind: 'transient' }, outcome && { outcome });
        };
        const feedback = outcome ? { ...context.feedback, create: failing } : context.feedback;
        const journeys = await store.records.journeysOf('a');
        const last = journeys.at(-1);
        const work = async () => {
          if (step === 'plan') await plan(eventOf('a'), context);
          else if (step === 'backfill') await plan(eventOf('a', { via: 'backfill' }), context);
          else if (step === 'reopen') {
            vendor.close('a', open);
            await plan(eventOf('a', { kind: 'changed' }), context);
            vendor.close('a', { customer });
          } else if (step === 'replay' && last) await replay(last, context);
          else if (step === 'write' && last) await writeBack({ journeyId: last.id }, context);
          else if (last) await ask({ journeyId: last.id }, { ...context, feedback });
        };
        // A rule that can't be tested in its campaign, and what the service refuses, end in an error.
        await work().catch((error: unknown) => expect(error).toBeInstanceOf(CloseloopError));
      }
      const made = service.standin.requests().slice(before);
      sent += made.length;
      const reached = made.flatMap(({ phone, email, identifier }) => [phone, email, identifier]);
      expect(reached.filter((one) => one && !testers.has(one))).toEqual([]);
      expect(vendor.written).toEqual([]);
    }),
    { numRuns: 40 },
  );
  // The paths do lead somewhere.
  expect(sent).toBeGreaterThan(5);
});
