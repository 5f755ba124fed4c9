import {
  type AnswerPart,
  type AnswerPlaces,
  cut,
  isSameText,
  placed,
  surveyText,
} from '../../core/connector/answer.ts';
import type { WriteBack } from '../../core/connector/contract.ts';
import type { Properties } from './objects.ts';

/** HubSpot's limit for text is 65,536 UTF-16 code units; this leaves room for a mark. */
export const maxTextUnits = 65_000;

/** The values of the status property, its options' internal names. */
export const statusValues = { answered: 'answered', 'no-answer': 'no_answer' } as const;

/** An answer as properties, under the names that the settings give its parts. */
export function propertiesOf(item: WriteBack, names: AnswerPlaces<string>): Record<string, string> {
  return Object.fromEntries(placed(item, names, textOf).map(({ place, value }) => [place, value]));
}

/**
 * HubSpot takes strings only: digits of a number, ISO 8601 UTC for an instant, '' to clear. A choice of several values takes them with
 * `;` between them, which is readable in a text as well.
 */
function textOf(one: AnswerPart): string {
  switch (one.part) {
    case 'grade':
      return one.value === null ? '' : String(one.value);
    case 'comment':
      return cut(one.value ?? '', maxTextUnits);
    case 'answeredAt':
      return one.value.toISOString();
    case 'status':
      return statusValues[one.value];
    default:
      return cut(surveyText(one.value, ';'), maxTextUnits);
  }
}

/** Findings for the properties whose present values differ from the sent ones; properties that HubSpot leaves out are empty. */
export function notTaken(sent: Record<string, string>, current: Properties): string[] {
  return Object.entries(sent).flatMap(([name, value]) => {
    if (isSameValue(value, current[name] ?? '')) return [];
    return [`HubSpot holds another value in ${name} than was sent: check the property's type and rules`];
  });
}

/** HubSpot may return the same value in another form. */
export function isSameValue(sent: string, current: string): boolean {
  if (isSameText(sent, current)) return true;
  if (sent === '' || current === '') return false;
  if (Number(sent) === Number(current)) return true;
  return instant(sent) !== undefined && instant(sent) === instant(current);
}

/** HubSpot writes instants as ISO 8601 or as epoch ms. */
export function instant(text: string | null | undefined): number | undefined {
  const ms = /^\d{11,15}$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
