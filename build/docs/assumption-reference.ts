import { assumedOperations as assumed, type OperationName } from '../../core/feedback/operations.ts';
import { fieldTypes } from '../../core/feedback/schemas.ts';
import { convert } from '../../core/mapping/field-value.ts';
import { code, table } from './table.ts';

/** A value of each type as an expression may find it. */
const found: Record<(typeof fieldTypes)[number], string | number | boolean> = {
  Text: 'Tartu',
  Integer: '42',
  Date: '2026-11-21',
  Time: '9:30',
  'Date and time': '2026-11-21T07:30:00Z',
  'Yes/No': 'yes',
  Choice: 'north',
  'URL address': 'https://example.com',
};

/** A row for each type of custom field: what is sent for a value, and as which kind of JSON. */
function sentValues(): string[][] {
  return fieldTypes.map((type) => {
    const definition = { name: type, field_type: type, required: false, choices: ['North', 'South'] };
    const converted = convert(definition, found[type], { timeZone: 'Europe/Tallinn' });
    if (!converted.ok || converted.value === undefined) throw new Error(`the sample of type ${type} is no value`);
    const kind = typeof converted.value === 'string' ? 'text' : typeof converted.value;
    return [type, kind, code(JSON.stringify(converted.value))];
  });
}

/** `POST /appeals/`, and what its body holds. */
export function assumedForm(name: OperationName): string {
  const { method, path, body } = assumed[name];
  const places = Object.values(body).filter((place) => place !== null);
  return [code(`${method} ${path}`), places.length === 0 ? 'no body' : code(`{${places.join(', ')}}`)].join(', ');
}

/** `id, campaign, …` */
export const assumedFields = (): string => Object.values(assumed.record).join(', ');

export function assumptionReference(): string {
  const operations = [
    ['create', 'creates a feedback request', 'the record of the request'],
    ['get', 'reads one', 'the record of the request'],
    ['grade', 'grades one of an external campaign', 'any 2xx'],
    ['comment', 'comments on one of an external campaign', 'any 2xx'],
    ['cancel', 'cancels one that is still scheduled', 'any 2xx'],
  ] as const;
  const rows = operations.map(([name, what, answer]) => [
    what,
    assumedForm(name),
    answer,
    code(`feedback.operations.${name}`),
  ]);
  const fields = Object.entries(assumed.record).map(([name, place]) => [
    name,
    code(String(place)),
    code(`feedback.operations.record.${name}`),
  ]);
  return `# What is assumed of the service

The specification of the Feedback Collection Service does not show the wire form of five operations, nor a few other things. This page
is made from the table that closeloop works by (\`core/feedback/operations.ts\`, \`npm run schema\`).
\`closeloop requests create\`, \`get\` and \`cancel\` try the forms on your account, in a test campaign. Where one is wrong, override it in
\`feedback.operations\` ([every key](configuration.md#feedback)); nothing else has to change. A service with other methods, envelopes and
lists: [examples/configurations/other-wire-form.yaml](../../examples/configurations/other-wire-form.yaml).

## Five operations

${table(['it', 'call', 'answer', 'override'], rows)}

Of ${code('phone')}, ${code('email')} and ${code('identifier')} exactly one is sent. Custom field values are an
${assumed.customFields.layout} of values by name (${code('feedback.operations.customFields')}); both layouts are read.

An id is sent as text wherever it goes, in a path and in a body, and read as a number of any length or as text.

## The values of custom fields

${table(['type', 'JSON', 'as in'], sentValues())}

A date and time has the offset of the account's zone (${code('feedback.timeZone')}). A field without a value is not sent. Where the service wants
another form of a type, make the campaign's field a Text field, and write the form in the rule's expression
([custom fields](../custom-fields.md)).

## The record of a request

${table(['field', 'called', 'override'], fields)}

A request that can still be cancelled has the status ${code(assumed.status.scheduled)} (${code('feedback.operations.status.scheduled')}).

## The rest

${table(
  ['assumed', 'what closeloop does', 'override'],
  [
    [
      'the list of requests has no filter but `campaign`',
      'looks through the campaign',
      code('feedback.operations.list.filters'),
    ],
    [
      'an explicit `scheduled` stops the service from adding `send_delay`',
      'waits itself, and sends `scheduled` with every request',
      '`feedback.operations.create.body.scheduled: null`: the service waits, and closeloop does not',
    ],
    [
      'a campaign sends from `send_from` on, and no more at `send_until`; the two being equal: at any hour; `send_from` being the later: over midnight',
      "plans every request into these hours, in the account's zone",
      "the rule's `window`, and `policy.sms` for text messages: they narrow the hours",
    ],
    [
      '`last_appeal` of a contact moves when a request is created, whoever creates it',
      'counts that request for throttles; looks for a request that Redis has lost where it moved since the closing and no journey explains it; ' +
        'and after a create of unknown outcome compares it, beside the export',
      'give the campaign a Text field named `closeloop` (`marker`): then the request itself is found by it. For throttles: none',
    ],
    [
      'a request was cancelled if its status begins with `cancel`, in any case',
      'takes a refused cancelling for done where the request shows that status; and takes no such request for the one that Redis has lost: it reached nobody',
      'none. Under another name the request counts as sent',
    ],
    [
      'a contact is masked if the record shows none at all, a `phone` without seven digits in a row, an `email` with `*` or without `@`, or an ' +
        '`identifier` without a letter or digit',
      'takes its answer for the journey that holds its id; where it may be a request that is looked for, a person decides',
      'give the campaign a Text field named `closeloop` (`marker`) that is not marked as personal data',
    ],
    [
      'survey events are `{type: "survey.completed", data: {appeal, answers: [{question, answer}]}}`',
      'reads them at a source of the connector `webhook`',
      '`event.survey` of that source',
    ],
  ],
)}
`;
}
