import type { Source } from './contract.ts';

/** The id of the record that a person names, as in events; undefined: no record of this source. */
export const recordNamed = ({ recordNames }: Pick<Source, 'recordNames'>, written: string): string | undefined =>
  recordNames === undefined ? written : recordNames.parse(written);
