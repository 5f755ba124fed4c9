import { styleText } from 'node:util';
import type { Trial } from '../preflight/trial.ts';
import { table } from './table.ts';

/** What each condition gave over the latest closings of a source, for people. */
export function trialTable(source: string, { closings, conditions }: Trial): string {
  if (closings === 0) return `${source}: nothing closed in the last days, so that no condition could be tried\n`;
  const head = ['condition', '', 'matches', 'decides', 'fails'];
  const rows = conditions.map(({ of, rule, condition, matches, decides, errors }) => [
    of === 'rule' ? `rule "${rule}"` : 'never',
    condition,
    String(matches),
    String(decides),
    errors === 0 ? '' : String(errors),
  ]);
  return `${styleText('bold', `${source}: what conditions gave over the last ${closings} closings`)}\n${table([head, ...rows])}`;
}
