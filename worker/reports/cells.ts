import type { Counts } from '../journey/hourly-counts.ts';
import type { GradeFigures, GradesRow } from './grades.ts';

/** A row of the service's figures, beside the figures of closeloop's own journeys for the same requests. */
export type ReportRow = GradesRow & { closeloop?: Counts };

const columns = ['asked', 'answered', 'rate', 'average', 'index'] as const;

/** A head, then a line of cells for each row. A spreadsheet also gets the figures of the period before. */
export function cellsOf(rows: readonly ReportRow[], form: 'csv' | 'table'): string[][] {
  const has = {
    step: rows.some(({ step }) => step),
    by: rows.some(({ by }) => by),
    ours: rows.some(({ closeloop }) => closeloop),
  };
  const isCsv = form === 'csv';
  const head = [
    ...(has.step ? ['since', 'until'] : []),
    ...(isCsv ? ['campaign id'] : []),
    'campaign',
    ...(has.by ? ['field', 'value'] : []),
    ...columns,
    ...(isCsv ? [...columns.map((name) => `${name} before`), 'measure'] : []),
    'change',
    ...(has.ours ? ['by closeloop'] : []),
  ];
  const body = rows.map((row) => [
    ...(row.step ? [row.step.since, row.step.until] : []),
    ...(isCsv ? [String(row.campaign)] : []),
    row.name,
    ...(row.by ? [row.by.field, row.by.value] : []),
    ...figures(row.now, form),
    ...(isCsv ? [...figures(row.before, form), row.measure ?? ''] : []),
    row.change === null ? '' : isCsv || row.change <= 0 ? String(row.change) : `+${row.change}`,
    ...(has.ours ? [String(row.closeloop?.asked ?? 0)] : []),
  ]);
  return [head, ...body];
}

function figures({ asked, answered, rate, average, index }: GradeFigures, form: 'csv' | 'table'): string[] {
  const written = (figure: number | null) => (figure === null ? '' : String(figure));
  const share =
    rate === null ? '' : form === 'csv' ? written(Math.round(rate * 10_000) / 10_000) : `${Math.round(rate * 100)} %`;
  return [String(asked), written(answered), share, written(average), written(index)];
}

/** The lowest and the highest possible value of a row's figure; undefined: the row has no figure. */
export function rangeOf({
  measure,
  scale,
}: Pick<GradesRow, 'measure' | 'scale'>): [low: number, high: number] | undefined {
  if (measure === null) return undefined;
  if (measure !== 'avg') return measure === 'nps' ? [-100, 100] : [0, 100];
  const [low, high] = [scale[0], scale.at(-1)];
  return low === undefined || high === undefined || high <= low ? undefined : [low, high];
}

/**
 * RFC 4180, for spreadsheets: text that one would take for a formula is led by an apostrophe, also behind a separator that some
 * countries' spreadsheets split lines at.
 */
export function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

function quoted(cell: string): string {
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) && !/^[+-]?\d+(\.\d+)?$/.test(cell);
  const text = isFormula ? `'${cell}` : cell;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
