import { type Account, account, against, type Call, type Handler, type Row } from './fake-hubspot.ts';

export const contact: Row = {
  id: '106651134132',
  properties: {
    email: 'jane@example.com',
    mobilephone: '+372 5555 5555',
    firstname: 'Jane',
    lastname: 'Doe',
    hs_language: 'pt-br',
    hs_timezone: 'us_slash_eastern',
    country: 'United States',
    hs_country_region_code: 'US',
    state: 'New York',
  },
};
export const closedTicket = (id: string, more: Partial<Row> = {}): Row => ({
  id,
  properties: {
    hs_pipeline: '0',
    hs_pipeline_stage: '4',
    subject: 'Broken',
    hubspot_owner_id: '11',
    createdate: '2026-11-20T08:00:00Z',
    store: 'Tartu',
  },
  history: [
    ['4', '2026-11-21T09:00:00.123Z'],
    ['1', '2026-11-20T08:00:00Z'],
  ],
  contacts: [[contact.id]],
  ...more,
});
export const owners = {
  false: [
    { id: '11', email: 'ann@example.com', firstName: 'Ann', lastName: 'Lee' },
    { id: '12', firstName: '', lastName: '' },
    { id: '13', firstName: 'Cy' },
  ],
  true: [{ id: '14', firstName: 'Gone', lastName: 'Away' }],
};
export const closing = '2026-11-21T09:00:00.123Z';

/** Reads against this account; gives the results in short and the calls' paths. */
export const reading = (given: Account | Handler, ids: string[], settings: object = {}) =>
  against(
    typeof given === 'function' ? given : account({ contacts: [contact], owners, ...given }),
    async ({ source, calls }) => {
      const results = await source.read(ids);
      return { results, states: results.map((result) => (result.ok ? result.record.state : result.why)), calls };
    },
    settings,
  );

export const called = (calls: Call[]) =>
  calls.map(
    ({ method, path, body }) => `${method} ${path.replaceAll('/2026-09', '').split('?')[0]} ${body.inputs.length}`,
  );
