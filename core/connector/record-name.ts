import type { Source } from './contract.ts';

/** The id of the record that a person names, as in events; undefined: no record of this source. */
export const recordNamed = ({ recordNames }: Pick<Source, 'recordNames'>, written: string): string | undefined =>
  recordNames === undefined ? written : recordNames.parse(written);

/** For vendors that print a number sign before the ids of their records: `14` and `#14` alike. */
export function numbered(isId: (text: string) => boolean): NonNullable<Source['recordNames']> {
  return {
    like: '14 or #14',
    parse: (written) => {
      const id = written.trim().replace(/^#/, '');
      return isId(id) ? id : undefined;
    },
  };
}
