import type { Finding, Report, Spread, Target } from './harness.ts';

/** What a person reads of the reports: a table, and under each measure what the machine was doing. */
export function tableOf(reports: readonly Report[]): string {
  const head = ['measure', 'closeloop', 'baseline', 'judged', 'target', ''];
  const rows = reports.flatMap(({ machine, findings }) => findings.map((one) => cellsOf(one, machine.isBusy)));
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width));
  return [line(head), line(rule), ...rows.map(line), '', ...reports.map(machineLine)].join('\n');
}

function cellsOf(finding: Finding, isBusy: boolean): string[] {
  const { measure, unit, closeloop, baseline, judged, target } = finding;
  return [
    `${measure} (${unit})`,
    shown(closeloop),
    baseline ? `${shown(baseline)} ${baseline.name}` : '',
    judged === undefined || !target ? '' : `${figure(judged)}${target.of === 'ratio' ? ' ×' : ''}`,
    target ? targetText(target) : '',
    verdictOf(finding, isBusy),
  ];
}

function verdictOf({ target, isReached }: Finding, isBusy: boolean): string {
  if (isBusy) return 'not claimed: busy machine';
  if (!target || isReached === undefined) return '';
  return isReached ? 'reached' : 'NOT reached';
}

function targetText({ of, is, figure: wanted }: Target): string {
  const sign = is === 'at least' ? '≥' : '≤';
  return of === 'ratio' ? `${sign} ${wanted} ×` : `${sign} ${wanted}`;
}

function shown({ median, from, to }: Spread): string {
  return from === to ? figure(median) : `${figure(median)} (${figure(from)}–${figure(to)})`;
}

function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

function machineLine({ name, machine }: Report): string {
  const { cores, loadBefore, othersShare, isBusy } = machine;
  const others = `others took ${Math.round(othersShare * 100)} % of ${cores} cores, load before ${loadBefore.toFixed(2)}`;
  return `${name}: ${others}${isBusy ? ': too busy to claim anything' : ''}`;
}
