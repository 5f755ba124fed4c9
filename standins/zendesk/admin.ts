import type { Rule } from './rules.ts';

export const keyedFieldTypes = [
  'text',
  'textarea',
  'checkbox',
  'date',
  'integer',
  'decimal',
  'regexp',
  'dropdown',
  'lookup',
  'multiselect',
] as const;

/** A custom field of users or of the records of a custom object: known by its key. */
export interface KeyedField {
  id: number;
  key: string;
  title: string;
  type: (typeof keyedFieldTypes)[number];
  active: boolean;
  regexp: string | null;
  options: { id: number; name: string; value: string }[];
}

export interface CustomObject {
  key: string;
  title: string;
  fields: KeyedField[];
}

interface AdminSettings {
  /** Legacy satisfaction ratings. */
  customerSatisfaction: boolean;
  /** Whether webhooks may subscribe to ticket events; the vendor's documents disagree. */
  ticketEvents: boolean;
  /** At most 10 webhooks. */
  trial: boolean;
  /** How many custom objects the plan has room for. */
  customObjects: number;
  /** The scopes that the OAuth client may ask for at most; left out: all. */
  clientScopes?: string[];
}

/** What admins set up in the Admin Center. */
export class Admin {
  readonly settings: AdminSettings = {
    customerSatisfaction: false,
    ticketEvents: true,
    trial: false,
    customObjects: 30,
  };
  readonly userFields = new Map<number, KeyedField>();
  readonly customObjects = new Map<string, CustomObject>();
  /** Texts by the names of their placeholders: `{{dc.excellent}}` in an option's name is shown as what `excellent` says here. */
  readonly dynamicContent = new Map<string, string>();
  triggers: Rule[] = [];
  /** Every account has this one; it can be changed, not removed. */
  automations: Rule[] = [
    {
      id: 25,
      title: 'Close ticket 4 days after status is set to solved',
      active: true,
      conditions: {
        all: [
          { field: 'status', operator: 'is', value: 'solved' },
          { field: 'SOLVED', operator: 'greater_than', value: '96' },
        ],
        any: [],
      },
      actions: [{ field: 'status', value: 'closed' }],
    },
  ];
}
