import type { z } from 'zod';
import type {
  Account,
  accountDefinition,
  Campaign,
  CustomField,
  campaignDefinition,
  FieldValue,
  fillOrder,
  Metric,
  Survey,
  surveyDefinition,
} from './definitions.ts';
import { emptyTally } from './statistics.ts';
import type { NewRequest, Store } from './store.ts';
import { Zone } from './zone.ts';

type Definition<Schema extends z.ZodType> = z.output<Schema>;

export function buildAccount(given: Definition<typeof accountDefinition>, timeZone: string): Account {
  return {
    name: given.name,
    zone: new Zone(given.timeZone ?? timeZone),
    sendFrom: given.sendFrom,
    sendUntil: given.sendUntil,
    campaigns: [],
    requests: [],
    contacts: new Map(),
    maskedContacts: new Set(),
    blacklist: new Map(),
    graylist: new Map(),
    accessLog: new Map(),
    surveys: [],
  };
}

export function buildCampaign(given: Definition<typeof campaignDefinition>, account: Account, store: Store): Campaign {
  const gradeList = given.gradeList ?? usualGrades[given.metric];
  const { customFields, account: _, scale, id, ...rest } = given;
  const fields = customFields.map((field): CustomField => ({ ...field, id: field.id ?? store.nextId() }));
  return {
    ...rest,
    id: id ?? store.nextId(),
    account,
    gradeList,
    scale: scale ?? (gradeList.length === 0 ? '' : `${gradeList[0]}-${gradeList[gradeList.length - 1]}`),
    fields,
    requests: [],
    total: emptyTally(gradeList),
    days: new Map(),
    values: fields.map((field) => (field.showInReport ? new Map() : undefined)),
  };
}

export function buildSurvey(given: Definition<typeof surveyDefinition>, store: Store): Survey {
  return {
    id: given.id ?? store.nextId(),
    name: given.name,
    isActive: given.isActive,
    questions: given.questions.map((question) => ({
      id: question.id ?? store.nextId(),
      question: question.question,
      answer_type: question.answerType,
      instructions: question.instructions,
      required: question.required,
      is_active: question.isActive,
      config: question.config,
    })),
  };
}

/** Adds many requests without the API; the same order on an equal store gives the same requests. */
export function fill(store: Store, campaign: Campaign, order: Definition<typeof fillOrder>, now: number): void {
  const { gradeList, fields } = campaign;
  let graded = 0;
  for (let index = 0; index < order.count; index += 1) {
    const daysAgo = order.days === 0 ? 0 : index % (order.days + 1);
    const draft: NewRequest = {
      ...fillContact(campaign, store.requests.length + 1),
      scheduledAt: now - daysAgo * 86_400_000,
      values: fields.length === 0 ? null : fields.map((field) => fillValue(field, index)),
    };
    const request = store.add(campaign, draft, now);
    const isGraded = Math.floor((index + 1) * order.graded) > Math.floor(index * order.graded);
    const grade = gradeList[(graded * 7) % (gradeList.length || 1)];
    if (!isGraded || grade === undefined) continue;
    store.grade(request, grade, now);
    if (graded % 3 === 0) store.comment(request, `Comment ${graded}`, now);
    graded += 1;
  }
}

function fillContact({ type }: Campaign, serial: number): Pick<NewRequest, 'phone' | 'email' | 'identifier'> {
  const none = { phone: null, email: null, identifier: null };
  const digits = String(serial).padStart(7, '0');
  if (type === 'sms') return { ...none, phone: `+3725${digits}` };
  if (type === 'external' || type === 'widget') return { ...none, identifier: `fill-${digits}` };
  return { ...none, email: `fill${digits}@example.com` };
}

function fillValue(field: CustomField, index: number): FieldValue {
  switch (field.fieldType) {
    case 'Text':
      return `${field.name} ${index % 20}`;
    case 'Integer':
      return index % 100;
    case 'Yes/No':
      return index % 2 === 0;
    case 'Choice':
      return field.choices[index % (field.choices.length || 1)] ?? '';
    case 'Date':
      return '2026-01-15';
    case 'Time':
      return '12:30:00';
    case 'Date and time':
      return '2026-01-15T12:30:00.000000+00:00';
    case 'URL address':
      return 'https://example.com/';
  }
}

const usualGrades: Record<Metric, number[]> = {
  avg: [1, 2, 3, 4, 5],
  csat: [1, 2, 3, 4, 5],
  nps: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  survey: [],
};
