import { styleText } from 'node:util';
import { type Summary, sentenceOf } from '../support/summary.ts';
import { table } from './table.ts';

/** The most closings that the text for people lists. JSON lists up to a thousand. */
const shownForReview = 50;

/** A summary for people: its sentence, a table of outcomes, and the closings that a person should look at. @param further more lines for the last part */
export function summaryText(summary: Summary, further: readonly string[] = []): string {
  const { outcomes, forReview } = summary;
  const rows = outcomes.map(({ source, what, rule = '', campaign = '', count }) => [
    source,
    what,
    rule,
    String(campaign),
    String(count),
  ]);
  const shown = forReview.first.slice(0, shownForReview);
  const more = forReview.count - shown.length;
  const lines = [
    ...shown.map(({ journey, why }) => `  ${journey}  ${why}`),
    ...(more > 0 ? [`  and ${more} more: --json lists them`] : []),
    ...further.map((line) => `  ${line}`),
  ];
  return [
    `${styleText('bold', sentenceOf(summary))}\n`,
    ...(rows.length > 0 ? ['\n', table([['source', 'what', 'rule', 'campaign', 'closings'], ...rows])] : []),
    ...(lines.length > 0 ? [`\nTo look at:\n${lines.join('\n')}\n`] : []),
  ].join('');
}
