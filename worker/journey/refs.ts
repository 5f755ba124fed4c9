import type { Journey } from './journey.ts';

/** The record of a journey, by the journey's id or any name that ends with the id: `41960` of `41960.1`, `support/41960` of `support/41960.1`. */
export const recordOf = (id: string): string => id.slice(0, id.lastIndexOf('.'));

/** A journey's name for people: `support/41960.1`. */
export function refOf(source: string, journeyId: string): string {
  return `${source}/${journeyId}`;
}

/**
 * A journey's name in markers at the service and the vendor, and in the contact's note: with the name that the source's data is stored
 * under, so that markers are found after a rename.
 */
export function markOf({ source, id }: Pick<Journey, 'source' | 'id'>): string {
  return refOf(source, id);
}

/** The record that answers go to: the journey's own, or the record that it was merged into. */
export const currentRecordOf = ({ currentId, recordId }: Pick<Journey, 'currentId' | 'recordId'>): string =>
  currentId ?? recordId;
