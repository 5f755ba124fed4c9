import { assumedOperations as assumed, type OperationName } from '../../core/feedback/operations.ts';
import { code, table } from './table.ts';

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
is made from the table that closeloop works by ([core/feedback/operations.ts](../../core/feedback/operations.ts), \`npm run schema\`).
\`closeloop check --try\` tries the forms on your account with one request in a test campaign. Where one is wrong, override it in
\`feedback.operations\` ([every key](configuration.md#feedback)); nothing else has to change. A service with other methods, envelopes and
lists: [examples/configurations/other-wire-form.yaml](../../examples/configurations/other-wire-form.yaml).

## Five operations

${table(['it', 'call', 'answer', 'override'], rows)}

Of ${code('phone')}, ${code('email')} and ${code('identifier')} exactly one is sent. Custom field values are an
${assumed.customFields.layout} of values by name (${code('feedback.operations.customFields')}); both layouts are read.

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
      '`last_appeal` of a contact moves when a request is created',
      'uses that only after a create of unknown outcome, beside the export',
      'give the campaign a Text field named `closeloop` (`marker`): then the request itself is found by it',
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
