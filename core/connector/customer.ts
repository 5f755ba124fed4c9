import { isZone } from '../schedule/wall-clock.ts';
import type { PresentedRecord } from './contract.ts';

type Present<T> = { [K in keyof T as null extends T[K] ? never : undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : undefined extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** The object without the keys whose value is null or undefined: rules see only what the record has. */
export function present<T extends object>(told: T): Present<T>;
export function present(told: object): object {
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== null && value !== undefined));
}

type Customer = Pick<PresentedRecord, 'personId' | 'timeZone' | 'country' | 'region' | 'locale'>;
/** A customer's data as the vendor gives them, empty values included. */
export type ToldCustomer = Partial<Record<keyof Customer, string | null | undefined>>;

/**
 * The customer of a record, for `PresentedRecord`: without empty values, without an unknown zone, and without a region whose country is
 * missing.
 */
export function customerOf(told: ToldCustomer): Customer {
  const { personId, timeZone, country, region, locale } = told;
  return {
    ...(personId && { personId }),
    ...(timeZone && isZone(timeZone) && { timeZone }),
    ...(country && { country }),
    ...(country && region && { region }),
    ...(locale && { locale }),
  };
}
