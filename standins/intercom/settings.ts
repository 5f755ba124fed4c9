import type { z } from 'zod';
import type { VendorOptions } from '../kit/vendor-standin.ts';
import type { settingsChange } from './definitions.ts';

export interface IntercomStandinOptions extends VendorOptions {
  /** Default `intercom-token`. */
  accessToken?: string;
}

export type Settings = Required<z.output<typeof settingsChange>>;

export const openSettings = (): Settings => ({
  region: 'US',
  timezone: 'Europe/Berlin',
  appVersion: '2.16',
  searchBy: 'day',
  indexLagMs: 0,
  ticketWrites: 'honoured',
  refuses: [],
  limit: 1_667,
});
