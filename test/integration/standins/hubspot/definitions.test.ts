import { describe, expect, test } from 'vitest';
import { useAccount } from '../../../support/standins/hubspot/account.ts';

const account = useAccount();

describe('what surrounds the records', () => {
  test('it describes stages with text only', async () => {
    account.standin.addPipeline({
      type: 'tickets',
      id: '55',
      label: 'Other',
      stages: [{ id: '1269308450', label: 'Archived', closed: true }],
    });
    const { json } = await account.call('GET', '/crm/pipelines/2026-09/tickets');
    const stages = json.results.flatMap((pipeline: { stages: { id: string; metadata: object }[] }) => pipeline.stages);
    expect(
      stages.map((stage: { id: string; metadata: { isClosed: string; ticketState: string } }) => [
        stage.id,
        stage.metadata.ticketState,
        stage.metadata.isClosed,
      ]),
    ).toEqual([
      ['1', 'OPEN', 'false'],
      ['2', 'OPEN', 'false'],
      ['3', 'OPEN', 'false'],
      ['4', 'CLOSED', 'true'],
      ['1269308450', 'CLOSED', 'true'],
    ]);
    const deals = await account.call('GET', '/crm/pipelines/2026-09/deals/default');
    expect(deals.json.stages.at(-1)).toMatchObject({
      id: 'closedlost',
      metadata: { probability: '0.0', isClosed: 'true' },
    });
  });

  test('it pages owners and hides archived ones', async () => {
    const [a, b] = [account.standin.addOwner(), account.standin.addOwner({ archived: true })];
    account.standin.addOwner();
    const first = await account.call('GET', '/crm/owners/2026-09?limit=1');
    expect([first.json.results[0].id, first.json.paging.next.after]).toEqual([a.id, '1']);
    expect((await account.call('GET', `/crm/owners/2026-09/${b.id}`)).status).toBe(404);
    expect((await account.call('GET', `/crm/owners/2026-09/${b.id}?archived=true`)).status).toBe(200);
  });

  test('it creates groups and properties once', async () => {
    const group = () =>
      account.call('POST', '/crm/properties/2026-09/tickets/groups', { name: 'closeloop', label: 'Closeloop' });
    const property = (more: object = {}) =>
      account.call('POST', '/crm/properties/2026-09/tickets', {
        name: 'closeloop_grade',
        label: 'Grade',
        type: 'number',
        fieldType: 'number',
        groupName: 'closeloop',
        ...more,
      });
    expect((await property()).status).toBe(400);
    expect([(await group()).status, (await group()).status]).toEqual([201, 409]);
    const twice = [await property(), await property()];
    expect(twice.map((reply) => [reply.status, reply.json.category])).toEqual([
      [201, undefined],
      [409, 'OBJECT_ALREADY_EXISTS'],
    ]);
    expect((await property({ name: 'Grade' })).status).toBe(400);
    expect((await property({ name: 'x', fieldType: 'select' })).status).toBe(400);
    expect((await account.call('GET', '/crm/properties/2026-09/tickets/closeloop_grade')).json).toMatchObject({
      type: 'number',
      modificationMetadata: { readOnlyValue: false },
    });
  });

  test('it tells portal and zone', async () => {
    expect((await account.call('GET', '/account-info/2026-09/details')).json).toMatchObject({
      portalId: 48_211_907,
      timeZone: 'Europe/Tallinn',
    });
  });
});
