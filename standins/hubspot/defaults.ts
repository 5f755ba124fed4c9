import type { ObjectType, Pipeline, Property } from './definitions.ts';

type Row = readonly [name: string, label: string, type: Property['type'], fieldType: string, readOnly?: 'read-only'];

/** The zone of the account: its day of calls ends at midnight here. */
export const accountZone = 'Europe/Tallinn';

/** Options of built-in lists; a property without any here is free, or its options are pipelines, stages or owners. */
const options: Readonly<Record<string, readonly string[]>> = {
  hs_ticket_priority: ['LOW', 'MEDIUM', 'HIGH', 'URGENT'],
  source_type: ['CHAT', 'EMAIL', 'FORM', 'PHONE'],
  hs_ticket_category: ['PRODUCT_ISSUE', 'BILLING_ISSUE', 'FEATURE_REQUEST', 'GENERAL_INQUIRY'],
  hs_resolution: ['ISSUE_FIXED', 'NO_ISSUE_FOUND', 'SENT_TO_ENGINEERING', 'FEATURE_REQUEST_TRACKED'],
};

const common: readonly Row[] = [
  ['hs_object_id', 'Record ID', 'number', 'number', 'read-only'],
  ['createdate', 'Create date', 'datetime', 'date', 'read-only'],
  ['hubspot_owner_id', 'Owner', 'enumeration', 'select'],
  ['hs_merged_object_ids', 'Merged record IDs', 'string', 'text', 'read-only'],
];
const rows: Readonly<Record<ObjectType, readonly Row[]>> = {
  tickets: [
    ...common,
    ['hs_lastmodifieddate', 'Last modified date', 'datetime', 'date', 'read-only'],
    ['subject', 'Ticket name', 'string', 'text'],
    ['content', 'Ticket description', 'string', 'textarea'],
    ['hs_pipeline', 'Pipeline', 'enumeration', 'select'],
    ['hs_pipeline_stage', 'Ticket status', 'enumeration', 'select'],
    ['closed_date', 'Close date', 'datetime', 'date'],
    ['hs_v2_date_entered_current_stage', 'Date entered current stage', 'datetime', 'date', 'read-only'],
    ['time_to_close', 'Time to close', 'number', 'number', 'read-only'],
    ['source_type', 'Source', 'enumeration', 'select'],
    ['hs_ticket_category', 'Category', 'enumeration', 'checkbox'],
    ['hs_ticket_priority', 'Priority', 'enumeration', 'select'],
    ['hs_resolution', 'Resolution', 'enumeration', 'select'],
  ],
  deals: [
    ...common,
    ['hs_lastmodifieddate', 'Last modified date', 'datetime', 'date', 'read-only'],
    ['dealname', 'Deal name', 'string', 'text'],
    ['pipeline', 'Pipeline', 'enumeration', 'select'],
    ['dealstage', 'Deal stage', 'enumeration', 'radio'],
    ['closedate', 'Close date', 'datetime', 'date'],
    ['hs_v2_date_entered_current_stage', 'Date entered current stage', 'datetime', 'date', 'read-only'],
    ['amount', 'Amount', 'number', 'number'],
  ],
  contacts: [
    ...common,
    ['lastmodifieddate', 'Last modified date', 'datetime', 'date', 'read-only'],
    ['email', 'Email', 'string', 'text'],
    ['firstname', 'First name', 'string', 'text'],
    ['lastname', 'Last name', 'string', 'text'],
    ['phone', 'Phone number', 'string', 'phonenumber'],
    ['mobilephone', 'Mobile phone number', 'string', 'phonenumber'],
    ['hs_language', 'Preferred language', 'string', 'text'],
    ['hs_timezone', 'Time zone', 'string', 'text'],
    ['country', 'Country/Region', 'string', 'text'],
    ['hs_country_region_code', 'Country/Region Code', 'string', 'text'],
    ['state', 'State/Region', 'string', 'text'],
    ['hs_state_code', 'State/Region Code', 'string', 'text'],
    ['hs_email_optout', 'Unsubscribed from all email', 'bool', 'booleancheckbox', 'read-only'],
  ],
};

export const defaultGroup: Readonly<Record<ObjectType, string>> = {
  tickets: 'ticketinformation',
  deals: 'dealinformation',
  contacts: 'contactinformation',
};

export function defaultProperties(type: ObjectType): Property[] {
  return rows[type].map(([name, label, kind, fieldType, readOnly]) => ({
    name,
    label,
    type: kind,
    fieldType,
    groupName: defaultGroup[type],
    description: '',
    options: listOptions(options[name] ?? []),
    sensitive: false,
    readOnly: readOnly !== undefined,
    hubspotDefined: true,
    calculated: false,
    archived: false,
  }));
}

/** Pipeline `0` with stages 1 to 4 (4 closed); pipeline `default` with closedwon and closedlost. */
export function defaultPipelines(type: ObjectType): Pipeline[] {
  if (type === 'tickets') {
    const labels = ['New', 'Waiting on contact', 'Waiting on us', 'Closed'];
    const stages = labels.map((label, index) => ticketStage(String(index + 1), label, index, index === 3));
    return [{ id: '0', label: 'Support Pipeline', displayOrder: 0, archived: false, stages }];
  }
  if (type === 'deals') {
    const ids: [string, string, string][] = [
      ['appointmentscheduled', 'Appointment scheduled', '0.2'],
      ['contractsent', 'Contract sent', '0.9'],
      ['closedwon', 'Closed won', '1.0'],
      ['closedlost', 'Closed lost', '0.0'],
    ];
    const stages = ids.map(([id, label, probability], index) => dealStage(id, label, index, probability));
    return [{ id: 'default', label: 'Sales Pipeline', displayOrder: 0, archived: false, stages }];
  }
  return [];
}

export function ticketStage(
  id: string,
  label: string,
  displayOrder: number,
  closed: boolean,
): Pipeline['stages'][number] {
  return {
    id,
    label,
    displayOrder,
    metadata: { ticketState: closed ? 'CLOSED' : 'OPEN', isClosed: String(closed) },
    archived: false,
  };
}

/** Won at probability 1.0, lost at 0.0: both closed. */
export function dealStage(
  id: string,
  label: string,
  displayOrder: number,
  probability: string,
): Pipeline['stages'][number] {
  const closed = Number(probability) === 0 || Number(probability) === 1;
  return { id, label, displayOrder, metadata: { probability, isClosed: String(closed) }, archived: false };
}

export function listOptions(values: readonly (string | { value: string; hidden: boolean })[]): Property['options'] {
  return values.map((given, displayOrder) => {
    const { value, hidden } = typeof given === 'string' ? { value: given, hidden: false } : given;
    return { label: value, value, displayOrder, hidden };
  });
}
