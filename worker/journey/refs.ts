import type { Journey } from './journey.ts';

/** `support/41960.1`: how people name a journey. */
export function refOf(source: string, journeyId: string): string {
  return `${source}/${journeyId}`;
}

/**
 * How markers at the service and the vendor, and the memory of its contact, name a journey: by what its source was called when
 * it began, so that they are found again after a rename.
 */
export function markOf({ source, id }: Pick<Journey, 'source' | 'id'>): string {
  return refOf(source, id);
}
