import type { Source } from './contract.ts';

/** The id, as in events, of the record that a person names; undefined if the source has no such record. */
export const recordNamed = ({ recordNames }: Pick<Source, 'recordNames'>, written: string): string | undefined =>
  recordNames === undefined ? written : recordNames.parse(written);

/** Record names of vendors that print a number sign before ids: `14` and `#14` mean the same record. */
export function numbered(isId: (text: string) => boolean): NonNullable<Source['recordNames']> {
  return {
    like: '14 or #14',
    parse: (written) => {
      const id = written.trim().replace(/^#/, '');
      return isId(id) ? id : undefined;
    },
  };
}
