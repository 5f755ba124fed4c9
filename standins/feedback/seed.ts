import type { FeedbackService } from './service.ts';

/**
 * What the demo and a first look find: account "acme" (key "demo-key") with a campaign of every type, metric and state,
 * a survey with a question of every kind, and a second account "globex" (key "globex-key").
 * Campaign 12 is always open and doesn't wait, so that a loop run by hand ends at any time of day.
 */
export function plant(service: FeedbackService): void {
  service.addAccount({ name: 'acme' });
  service.addAccount({ name: 'globex' });
  service.addKey({ account: 'acme', key: 'demo-key' });
  service.addKey({ account: 'acme', key: 'inactive-key', active: false });
  service.addKey({ account: 'acme', key: 'expired-key', expiresAt: new Date('2020-01-01T00:00:00Z') });
  service.addKey({ account: 'globex', key: 'globex-key' });

  const account = 'acme';
  const ticket = { name: 'Ticket', showInReport: false };
  service.addCampaign({
    account,
    id: 12,
    name: 'After support',
    type: 'mixed',
    metric: 'csat',
    customFields: [{ name: 'Store' }, { name: 'Agent' }, ticket],
  });
  service.addCampaign({
    account,
    id: 13,
    name: 'After delivery',
    type: 'email',
    metric: 'nps',
    sendFrom: '09:00:00',
    sendUntil: '20:00:00',
    sendDelay: 60,
    customFields: [
      { name: 'Store', fieldType: 'Choice', choices: ['Tallinn', 'Tartu', 'Pärnu'], required: true },
      { name: 'Order lines', fieldType: 'Integer' },
      { name: 'Ordered on', fieldType: 'Date' },
      { name: 'Delivery hour', fieldType: 'Time' },
      { name: 'Delivered at', fieldType: 'Date and time' },
      { name: 'Gift', fieldType: 'Yes/No' },
      { name: 'Order page', fieldType: 'URL address', showInReport: false },
      { name: 'Receiver', fieldType: 'Text', personal: true },
      ticket,
    ],
  });
  service.addCampaign({ account, id: 14, name: 'Phone team', type: 'sms', metric: 'avg', customFields: [ticket] });
  service.addCampaign({ account, id: 15, name: 'At the counter', type: 'external', metric: 'csat' });
  service.addCampaign({ account, id: 16, name: 'Web shop', type: 'widget', metric: 'avg' });
  service.addCampaign({ account, id: 17, name: 'Yearly survey', type: 'email', metric: 'survey' });
  service.addCampaign({ account, id: 18, name: 'Not ready', type: 'email', state: 'draft' });
  service.addCampaign({ account, id: 19, name: 'Last year', type: 'email', state: 'inactive' });
  service.addCampaign({ account: 'globex', id: 31, name: 'Globex support', type: 'mixed' });

  service.addSurvey({ account, id: 71, name: 'How was it?', questions: everyKind });
  service.addSurvey({ account, id: 72, name: 'Not shown yet', isActive: false });
}

const everyKind: Parameters<FeedbackService['addSurvey']>[0]['questions'] = [
  {
    id: 711,
    question: 'How likely are you to recommend us?',
    answerType: 'metric',
    required: true,
    config: {
      metric: 'nps',
      start: 0,
      end: 10,
      step: 1,
      label_start: 'Not at all',
      label_mid: '',
      label_end: 'Very',
      nps_promoters: [9, 10],
      nps_detractors: [0, 1, 2, 3, 4, 5, 6],
    },
  },
  {
    id: 712,
    question: 'What did you buy?',
    answerType: 'choice',
    config: {
      choices: ['Shoes', 'Coat', 'Hat'],
      limit: 'exact',
      limit_exact: 1,
      limit_min: 0,
      limit_max: 3,
      show_other: true,
    },
  },
  {
    id: 713,
    question: 'What should we do better?',
    answerType: 'text',
    instructions: 'In your own words.',
    config: { widget: 'textarea', max_length: 2000 },
  },
  {
    id: 714,
    question: 'How fast were we?',
    answerType: 'range',
    config: { start: 1, end: 5, labels: ['Slow', 'Fast'] },
  },
  { id: 715, question: 'How many visits this year?', answerType: 'number', config: { min: 0, max: 366 } },
  { id: 716, question: 'When were you here?', answerType: 'date', config: { min: null, max: null } },
  { id: 717, question: 'At what time?', answerType: 'time', config: { min: '08:00', max: '22:00' } },
  {
    id: 718,
    question: 'Did you find everything?',
    answerType: 'bool',
    isActive: false,
    config: { true_label: 'Yes', false_label: 'No' },
  },
];
