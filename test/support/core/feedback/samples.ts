import type { ContactRecord } from '../../../../core/feedback/schemas.ts';

/* Resources as the specification's tables give them, with a key more than they say where a service may add one. */

export const campaign = {
  id: 12,
  type: 'sms',
  metric: 'csat',
  name: 'Phone team',
  grade_list: [1, 2, 3, 4, 5],
  send_from: '09:00:00',
  send_until: '20:00:00',
  send_delay: 30,
  custom_fields: [
    { name: 'Store', field_type: 'Choice', required: true, choices: ['North', 'South'] },
    { name: 'Agent', field_type: 'Text', required: false, choices: [] },
  ],
  stats: {
    csat_index: 87.5,
    appeals_total: 10,
    appeals_graded: 8,
    appeals_commented: 2,
    average_grade: 4.4,
    grade_counts: { '1': 0, '2': 0, '3': 1, '4': 3, '5': 4 },
  },
};

export const record = {
  id: 901,
  campaign: 12,
  phone: '+37255512345',
  email: null,
  identifier: null,
  scheduled: '2026-03-02T12:00:00.123456+02:00',
  status: 'Scheduled',
  grade: null,
  comment: null,
  custom_fields: { Store: 'North' },
};

export const request = {
  id: '901',
  campaign: 12,
  phone: '+37255512345',
  email: null,
  identifier: null,
  scheduled: new Date('2026-03-02T10:00:00.123Z'),
  status: 'Scheduled',
  grade: null,
  comment: null,
  customFields: { Store: 'North' },
};

export const contactRecord = {
  contact: '+37255512345',
  num_appeals: 3,
  num_feedback: 2,
  avg_grade: [{ scale: '1-5', avg: 4.5 }],
  index_csat: 100,
  index_nps: null,
  last_appeal: '2026-02-01T09:00:00.000001+02:00',
  last_grade: '2026-02-01T10:00:00.000000+02:00',
  last_comment: null,
  last_survey: null,
  blacklist: { entry: '+37255512345', date_added: '2026-02-02T00:00:00.000000+02:00' },
  graylist: {
    entry: '+37255512345',
    campaigns: [{ id: 12, name: 'Phone team', date_added: '2026-02-03T00:00:00.000000+02:00' }],
  },
};

/** What the service tells of a contact that it has never asked, as the client reads it. */
export const neverAsked: ContactRecord = {
  contact: 'erika@example.com',
  num_appeals: 0,
  num_feedback: 0,
  avg_grade: [],
  index_csat: null,
  index_nps: null,
  last_appeal: null,
  last_grade: null,
  last_comment: null,
  last_survey: null,
  blacklist: null,
  graylist: null,
};

export const question = {
  id: 1,
  question: 'Why?',
  instructions: '',
  required: false,
  is_active: true,
};

export const questions = [
  {
    ...question,
    answer_type: 'metric',
    config: {
      metric: 'nps',
      start: 0,
      end: 10,
      step: 1,
      label_start: 'no',
      label_mid: '',
      label_end: 'yes',
      nps_promoters: [9, 10],
      nps_detractors: [0, 1, 2, 3, 4, 5, 6],
    },
  },
  {
    ...question,
    answer_type: 'choice',
    config: { choices: ['a', 'b'], limit: 'exact', limit_exact: 1, limit_min: 0, limit_max: 2, show_other: true },
  },
  { ...question, answer_type: 'text', config: { widget: 'textarea', max_length: 500 } },
  { ...question, answer_type: 'range', config: { start: 1, end: 5, label_start: 'low', label_end: 'high' } },
  { ...question, answer_type: 'number', config: { min: 0, max: null } },
  { ...question, answer_type: 'date', config: { min: '2026-01-01', max: '2026-12-31' } },
  { ...question, answer_type: 'time', config: { min: '08:00', max: '17:00' } },
  { ...question, answer_type: 'bool', config: { true_label: 'yes', false_label: 'no' } },
];

export const survey = { id: 5, name: 'After the call', is_active: true, questions };

export const phone = { kind: 'phone', value: '+37255512345' } as const;

/** One page that is the whole list. */
export function page(results: unknown[]): object {
  return { count: results.length, next: null, previous: null, results };
}
