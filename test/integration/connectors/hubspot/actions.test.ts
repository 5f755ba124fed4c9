import { describe, expect, test } from 'vitest';
import type { ActionRequest } from '../../../../core/connector/contract.ts';
import type { HubspotStandin } from '../../../../standins/hubspot/standin.ts';
import { actOnce } from '../../../support/act-once.ts';
import { atDesk } from '../../../support/connectors/hubspot/desk.ts';

/* What every connector's actions have to do is in the contract suite. */

const request = (recordId: string, name: string, params: unknown): ActionRequest => {
  return { recordId, name, params, marker: 'crm/deal-7.1.a1.unhappy.0', closing: '', again: false };
};
const used = (name: string, params: unknown) => [{ at: `answers[0].do[0].${name}`, name, params }];

/** A deal that was lost, and another pipeline. */
async function lostDeal(standin: HubspotStandin, more: Record<string, string> = {}) {
  const stages = [{ id: '71', label: 'Make good' }];
  standin.addPipeline({ type: 'deals', id: '70', label: 'Save', stages });
  const { id } = standin.addDeal({ properties: { pipeline: 'default', dealstage: 'contractsent', ...more } });
  await standin.close(id, 'deals');
  const closing = standin.record('deals', id).history.dealstage?.at(-1)?.at ?? '';
  return { id, recordId: `deal-${id}`, closing };
}

describe('a deal', () => {
  test('moves to a stage of another pipeline, by their labels', () =>
    atDesk(async ({ standin, source }) => {
      const { id, recordId, closing } = await lostDeal(standin);
      const params = { stage: 'Make good', pipeline: 'Save' };
      const hubspot = source({ objects: ['deal'] });
      expect(await actOnce(hubspot, { ...request(recordId, 'reopen', params), closing })).toMatchObject({
        ok: true,
        done: 'moved to the stage Make good',
      });
      expect(standin.record('deals', id).properties).toMatchObject({ pipeline: '70', dealstage: '71' });
    }));

  test('whose own pipeline lacks the stage is parked, and says which', () =>
    atDesk(async ({ standin, source }) => {
      const { recordId, closing } = await lostDeal(standin);
      const hubspot = source({ objects: ['deal'] });
      expect(await hubspot.checkActions?.(used('reopen', { stage: 'Make good' }))).toEqual([]);
      const result = await actOnce(hubspot, { ...request(recordId, 'reopen', { stage: 'Make good' }), closing });
      expect(result).toMatchObject({
        ok: false,
        error: { message: 'the deal pipeline "Sales Pipeline" has no stage "Make good"' },
      });
    }));

  test('gets a task for its owner, due after the time that the rule gives', () =>
    atDesk(async ({ standin, source, clock }) => {
      const owner = standin.addOwner({ email: 'owner@example.com' });
      const { id, recordId } = await lostDeal(standin, { hubspot_owner_id: owner.id });
      await actOnce(
        source({ objects: ['deal'] }),
        request(recordId, 'task', { title: 'Call', text: 'a < b', due: '4h' }),
      );
      expect(standin.tasksOn('deals', id)).toEqual([
        {
          hs_timestamp: new Date(clock.ms + 4 * 3_600_000).toISOString(),
          hs_task_subject: 'Call',
          hs_task_body: '<p>a &lt; b</p><p>closeloop ref crm/deal-7.1.a1.unhappy.0</p>',
          hs_task_status: 'NOT_STARTED',
          hs_task_type: 'TODO',
          hubspot_owner_id: owner.id,
        },
      ]);
    }));

  test('of which a rule of the account wants more is parked with that reason', () =>
    atDesk(async ({ standin, source }) => {
      const { recordId } = await lostDeal(standin);
      standin.changeSettings({ requiredOnWrite: 'amount' });
      const result = await actOnce(source({ objects: ['deal'] }), request(recordId, 'set', { dealname: 'Saved' }));
      expect(result).toMatchObject({
        ok: false,
        why: 'error',
        error: { message: expect.stringContaining('MISSING_CONDITIONAL_REQUIRED_PROPERTY') },
      });
    }));
});

const all = ['oauth', 'tickets', 'crm.objects.contacts.read', 'crm.objects.owners.read', 'crm.objects.deals.read'];

test.each([
  ['note', '"bad"', 'crm.objects.contacts.write'],
  ['task', {}, 'crm.objects.contacts.write'],
  ['set', { dealname: 'x' }, 'crm.objects.deals.write'],
  ['reopen', { stage: 'contractsent' }, 'crm.objects.deals.write'],
])('check names the scope that "%s" lacks', (name, params, scope) =>
  atDesk(async ({ standin, source }) => {
    standin.changeSettings({ scopes: all });
    const findings = await source({ objects: ['deal'] }).checkActions?.(used(name, params));
    expect(findings).toMatchObject([
      { level: 'error', at: `answers[0].do[0].${name}`, problem: expect.stringContaining(`has no scope ${scope}`) },
    ]);
  }),
);

test('an erasure takes off the notes of answer rules as well', () =>
  atDesk(async ({ standin, source }) => {
    const { id, recordId } = await lostDeal(standin);
    const hubspot = source({ objects: ['deal'] });
    await actOnce(hubspot, request(recordId, 'note', 'Graded 1'));
    expect(standin.notesOn('deals', id)).toHaveLength(1);
    await hubspot.forget?.([recordId]);
    expect(standin.notesOn('deals', id)).toEqual([]);
  }));
