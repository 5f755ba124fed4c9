import { lookUp } from '../../../core/look-up.ts';
import type { Journey } from '../../journey/journey.ts';

export type Comparison = 'same' | 'other' | 'nothing to compare';

const dateOrTime = /^(\d{4}-\d{2}-\d{2}|\d{2}:\d{2})/;
const wordsOf: Record<string, string> = { yes: 'true', no: 'false', '1': 'true', '0': 'false' };

/**
 * Compares the custom field values of a feedback request with the journey's. The service may show a value in a form of its own:
 * case, spaces and type are ignored, Yes/No has several words, and a date or time in another format is not compared, nor is a
 * field that the request does not show.
 */
export function compareValues(values: Journey['values'], shown: Readonly<Record<string, unknown>>): Comparison {
  const verdicts = Object.entries(values ?? {}).map(([name, value]) => compareValue(value, lookUp(shown, name)));
  if (verdicts.includes('other')) return 'other';
  return verdicts.includes('same') ? 'same' : 'nothing to compare';
}

function compareValue(value: string | number | boolean, shown: unknown): Comparison {
  if (shown === undefined || shown === null || typeof shown === 'object') return 'nothing to compare';
  const [ours, theirs] = [plain(value), plain(shown)];
  if (ours === theirs) return 'same';
  if (typeof value === 'boolean') return lookUp(wordsOf, theirs) === ours ? 'same' : 'other';
  if (typeof value === 'number') return theirs !== '' && Number(theirs) === value ? 'same' : 'other';
  return dateOrTime.test(ours) ? 'nothing to compare' : 'other';
}

function plain(value: unknown): string {
  return String(value).normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase();
}
