import type { SourceFunction } from './functions.ts';
import type { Recorded } from './loops.ts';
import type { Entry } from './record.ts';

/** A file that a ticket enters, and an idle process does not. */
export interface WalkedFile {
  file: string;
  /** Names of the functions that other files of ours called; "(callback)" for one without a name. */
  waysIn: string[];
  /** How many of its functions were entered. */
  functions: number;
  linesRun: number;
  /** Of the whole file. */
  lines: number;
}

/** @param read the text of a file; @param functionsOf those in such a text */
export function walkedFiles(
  { idle, walked }: Recorded,
  read: (file: string) => string,
  functionsOf: (text: string) => SourceFunction[],
): WalkedFile[] {
  const idleFiles = new Set(idle.map(({ file }) => file));
  const beyond = Map.groupBy(walked, ({ file }) => file);
  return [...beyond]
    .filter(([file]) => !idleFiles.has(file))
    .map(([file, entries]) => {
      const text = read(file);
      const functions = functionsOf(text);
      const entered = new Set(entries.map(({ index }) => index));
      const lines = text.split('\n').length - 1;
      return {
        file,
        waysIn: waysIn(entries, functions),
        functions: entered.size,
        linesRun: linesRun(functions, entered),
        lines,
      };
    });
}

function waysIn(entries: readonly Entry[], functions: readonly SourceFunction[]): string[] {
  const fromOthers = entries.filter(({ file, from }) => from !== undefined && from !== file);
  return [...new Set(fromOthers.map(({ index }) => index))].map((index) => functions[index]?.name ?? '(callback)');
}

/** Each line belongs to the innermost function around it. */
function linesRun(functions: readonly SourceFunction[], entered: ReadonlySet<number>): number {
  const owners = new Map<number, number>();
  for (const [index, { firstLine, lastLine }] of functions.entries()) {
    for (let line = firstLine; line <= lastLine; line++) owners.set(line, index);
  }
  return [...owners.values()].filter((index) => entered.has(index)).length;
}

export function tableText(files: readonly WalkedFile[]): string {
  const rows = files.map(
    ({ file, waysIn, functions, linesRun, lines }, n) =>
      `| ${n + 1} | [\`${file}\`](../${file}) | ${waysIn.map((name) => `\`${name}\``).join(' ')} | ${functions} | ${linesRun} of ${lines} |`,
  );
  const head = ['| | file | entered through | functions run | lines run |', '| --- | --- | --- | --- | --- |'];
  return [...head, ...rows].join('\n');
}

/** To the hundred, so that not each changed line changes the page. */
export function sumText(files: readonly WalkedFile[]): string {
  const lines = files.reduce((sum, one) => sum + one.lines, 0);
  return `${files.length} files, ${(Math.round(lines / 100) * 100).toLocaleString('en')} lines beyond idle`;
}
