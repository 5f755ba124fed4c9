import { describe } from 'vitest';
import type { HubspotStandin } from '../../../../standins/hubspot/standin.ts';
import { findsEach } from '../../../support/connectors/hubspot/checking.ts';
import { writeBack } from '../../../support/connectors/hubspot/planted.ts';

const reads = (...path: string[]) => ({ reads: [{ at: 'rules.1.when', path }] });
const replaced = (type: 'tickets' | 'deals' | 'contacts', definition: object) => (standin: HubspotStandin) =>
  void standin.addProperty({ type, name: 'fb_grade', kind: 'number', ...definition });

describe('check of properties', () => {
  findsEach([
    {
      name: "a property that doesn't exist",
      settings: { writeBack: { ...writeBack, comment: 'fb_coment' } },
      finds: [
        ['error', 'writeBack.comment', /tickets have no property "fb_coment"/],
        ['error', 'writeBack.comment', /deals have no property "fb_coment"/],
      ],
    },
    {
      name: 'a property of contacts that is archived',
      account: (standin) => standin.archiveProperty({ type: 'contacts', name: 'fb_grade' }),
      finds: [['error', 'writeBack.contact.grade', /"fb_grade" of contacts is archived/]],
    },
    {
      name: 'a grade property of a type that refuses grades',
      account: replaced('tickets', { kind: 'bool' }),
      finds: [['error', 'writeBack.grade', /"fb_grade" of tickets is of type bool\/booleancheckbox/]],
    },
    {
      name: 'a grade property of text, as a warning',
      account: replaced('deals', { kind: 'string' }),
      finds: [['warning', 'writeBack.grade', /"fb_grade" of deals .*average text/]],
    },
    {
      name: 'a date without time for the time of the answer',
      account: (standin) => standin.addProperty({ type: 'tickets', name: 'fb_at', kind: 'date' }),
      finds: [['error', 'writeBack.answeredAt', /"fb_at" of tickets is of type date\/date/]],
    },
    {
      name: 'a single line for the comment, as a warning',
      account: (standin) => standin.addProperty({ type: 'tickets', name: 'fb_comment', kind: 'string' }),
      finds: [['warning', 'writeBack.comment', /a single line/]],
    },
    {
      name: 'a property that is read-only',
      account: replaced('tickets', { readOnly: true }),
      finds: [['error', 'writeBack.grade', /can't be written: .* read-only/]],
    },
    {
      name: 'a property that HubSpot calculates',
      account: replaced('contacts', { calculated: true }),
      finds: [['error', 'writeBack.contact.grade', /can't be written: .* calculates/]],
    },
    {
      name: 'a choice that lacks some of the grades',
      account: replaced('tickets', { kind: 'enumeration', options: ['1', '2', '3'] }),
      finds: [['error', 'writeBack.grade', /lacks the values 4, 5/]],
    },
    {
      name: 'a choice whose internal values differ in small and capital letters',
      account: (standin) =>
        standin.addProperty({
          type: 'deals',
          name: 'fb_status',
          kind: 'enumeration',
          options: ['Answered', 'no_answer'],
        }),
      finds: [['error', 'writeBack.status', /lacks the values answered/]],
    },
    {
      name: 'a choice that hides a grade, as a warning',
      account: replaced('tickets', {
        kind: 'enumeration',
        options: ['1', '2', '3', { value: '4', hidden: true }, '5'],
      }),
      finds: [['warning', 'writeBack.grade', /hides 4:/]],
    },
    {
      name: 'an answer that would overwrite the stage',
      settings: {
        objects: ['ticket'],
        pipelines: ['0'],
        stages: ['4'],
        writeBack: { ...writeBack, status: 'hs_pipeline_stage' },
      },
      finds: [
        [
          'error',
          'writeBack.status',
          /subscribed to ticket\.propertyChange of hs_pipeline_stage, which closeloop writes/,
        ],
        ['error', 'writeBack.status', /would move the record/],
      ],
    },
    {
      name: "a rule that reads a property that doesn't exist",
      about: reads('ticket', 'properties', 'shop'),
      finds: [['error', 'rules.1.when', /tickets have no property shop/]],
    },
    {
      name: 'a rule that reads a property that nobody asks HubSpot for',
      about: reads('ticket', 'properties', 'hs_resolution'),
      finds: [['error', 'rules.1.when', /ticket\.properties\.hs_resolution is not read/]],
    },
    {
      name: 'a rule that reads a contact property that nobody asks HubSpot for',
      about: reads('contact', 'properties', 'hs_email_optout'),
      finds: [['error', 'rules.1.when', /contact\.properties\.hs_email_optout is not read/]],
    },
    {
      name: "a rule that reads what isn't in a record",
      about: { reads: [...reads('ticket', 'title').reads, ...reads('requester', 'name').reads] },
      finds: [
        ['warning', 'rules.1.when', /ticket has no title/],
        ['warning', 'rules.1.when', /record has no requester/],
      ],
    },
    {
      name: 'a rule that reads deals where there are tickets only',
      settings: { objects: ['ticket'], pipelines: ['0'], stages: ['4'] },
      about: reads('deal', 'amount'),
      finds: [['warning', 'rules.1.when', /reads deal, which is never there/]],
    },
    {
      name: "a listed property that doesn't exist, once, though a rule reads it too",
      settings: { properties: ['store', 'shop'] },
      about: reads('ticket', 'properties', 'shop'),
      finds: [['error', 'properties', /tickets and deals have no property shop/]],
    },
    {
      name: "a listed contact property that doesn't exist",
      settings: { contactProperties: ['plan', 'plann'] },
      finds: [['error', 'contactProperties', /contacts have no property plann/]],
    },
    {
      name: "a contact label that doesn't exist",
      settings: { contactLabel: 72 },
      finds: [['error', 'contactLabel', /type id 72/]],
    },
  ]);
});
