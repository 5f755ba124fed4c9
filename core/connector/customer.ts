import { isZone } from '../schedule/wall-clock.ts';
import type { PresentedRecord } from './contract.ts';

type Customer = Pick<PresentedRecord, 'personId' | 'timeZone' | 'country' | 'region' | 'locale'>;

/**
 * The customer of a record, for `PresentedRecord`: without what the vendor leaves empty, a zone that nobody knows, and a region
 * without its country.
 */
export function customerOf(told: Partial<Record<keyof Customer, string | null | undefined>>): Customer {
  const { personId, timeZone, country, region, locale } = told;
  return {
    ...(personId && { personId }),
    ...(timeZone && isZone(timeZone) && { timeZone }),
    ...(country && { country }),
    ...(country && region && { region }),
    ...(locale && { locale }),
  };
}
