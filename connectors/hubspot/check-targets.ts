import { z } from 'zod';
import { statusValues } from './answer.ts';
import { type ObjectType, objectTypes } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';

/** The kinds of record that have properties we care for. */
export type CrmObject = ObjectType | 'contact';
export const pluralOf = (object: CrmObject) => (object === 'contact' ? 'contacts' : objectTypes[object].plural);

/** What an answer is made of. */
export type Role = 'grade' | 'comment' | 'answeredAt' | 'status' | 'answer';

/** A property that takes a part of each answer. */
export interface Target {
  /** Place in the settings. */
  at: string;
  object: CrmObject;
  role: Role;
  /** Internal name. */
  name: string;
  /** What will be written in it, as far as that is known: a choice must have them all. */
  values: string[];
}

/** @param grades Those that the rules' campaigns can give. */
export function targetsOf({ objects, writeBack }: HubSpotSettings, grades: readonly number[]): Target[] {
  const { status, noAnswer, contact } = writeBack;
  const values: Record<Role, string[]> = {
    grade: grades.map(String),
    comment: [],
    answeredAt: [],
    answer: [],
    status: [statusValues.answered, ...(noAnswer ? [statusValues['no-answer']] : [])],
  };
  const on = (object: CrmObject, prefix: string, names: Partial<Record<Role, string | undefined>>): Target[] =>
    (['grade', 'comment', 'answeredAt', 'status'] as const).flatMap((role) => {
      const name = names[role];
      return name === undefined ? [] : [{ at: `${prefix}.${role}`, object, role, name, values: values[role] }];
    });
  const { grade, comment, answeredAt } = writeBack;
  const survey = (object: CrmObject): Target[] =>
    Object.entries(writeBack.answers).map(([question, name]) => {
      return { at: `writeBack.answers.${question}`, object, role: 'answer', name, values: [] };
    });
  return [
    ...objects.flatMap((type) => [...on(type, 'writeBack', { grade, comment, answeredAt, status }), ...survey(type)]),
    ...on('contact', 'writeBack.contact', contact),
  ];
}

/** A property as HubSpot defines it. Options keep all that HubSpot takes: changing a list sends the whole of it back. */
export const Definition = z.object({
  name: z.string(),
  type: z.string(),
  fieldType: z.string(),
  options: z
    .array(
      z
        .object({
          label: z.string(),
          value: z.string(),
          displayOrder: z.number().default(-1),
          hidden: z.boolean().default(false),
          description: z.string().nullish(),
        })
        .transform(({ description, ...option }) => (description ? { ...option, description } : option)),
    )
    .nullish()
    .transform((options) => options ?? []),
  calculated: z.boolean().nullish(),
  modificationMetadata: z
    .object({ readOnlyValue: z.boolean().nullish(), readOnlyDefinition: z.boolean().nullish() })
    .nullish(),
});
export type Definition = z.output<typeof Definition>;

export const DefinitionList = z.object({ results: z.array(Definition) });

export const missingOptions = ({ values }: Target, { options }: Definition): string[] =>
  values.filter((value) => options.every((option) => option.value !== value));
