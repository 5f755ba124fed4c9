import type { Judgement } from './judge.ts';
import type { Recorded } from './recorded.ts';
import type { Undescribed, VendorRow } from './vendor-row.ts';

export interface Finding {
  vendor: string;
  /** `PUT /path: problem` */
  what: string;
  /** Different requests with it. */
  count: number;
  example: Recorded;
  /** Why it is no mistake. */
  fact?: string;
}

export interface Judged {
  vendor: string;
  requests: number;
  operations: number;
  /** What is no mismatch, but worth knowing, each with the number of requests it holds for. */
  notes: ReadonlyMap<string, number>;
  remarks: readonly string[];
}

/** Every kind of mismatch once, with one request that has it. */
export function judgeAll(
  requests: readonly Recorded[],
  rows: readonly VendorRow[],
  folder: string,
): { judged: Judged[]; findings: Finding[] } {
  const judged: Judged[] = [];
  const findings = new Map<string, Finding>();
  for (const row of rows) {
    const judges = row.judges(folder);
    const own = requests.filter((request) => row.owns(request));
    const operations = new Set<string>();
    const notes = new Map<string, number>();
    for (const request of own) {
      const spelled = row.spelled?.(request) ?? request;
      const place = `${request.method} ${spelled.path.replaceAll(/\/\d+(?=\/|$)/g, '/{id}')}`;
      const judgement = judges.map((judge) => judge(spelled)).find((one) => one !== undefined);
      const unknown = { operation: place, problems: ['is not described'] };
      const { operation, problems, notes: said = [] }: Judgement = judgement ?? unknown;
      operations.add(operation);
      for (const note of said.map((text) => `${operation}: ${text}`)) notes.set(note, (notes.get(note) ?? 0) + 1);
      for (const problem of problems) {
        const what = `${operation}: ${problem}`;
        const key = `${row.name} ${what}`;
        const fact = row.known.find(({ at }) => at.test(what))?.fact;
        const known = findings.get(key) ?? {
          vendor: row.name,
          what,
          count: 0,
          example: request,
          ...(fact && { fact }),
        };
        findings.set(key, { ...known, count: known.count + 1 });
      }
    }
    const remarks = row.remarks?.(folder, own) ?? [];
    judged.push({ vendor: row.name, requests: own.length, operations: operations.size, notes, remarks });
  }
  return { judged, findings: [...findings.values()].toSorted((a, b) => a.what.localeCompare(b.what)) };
}

/** 0 only when every vendor was asked something and nothing is left unexplained. */
export function exitCode(judged: readonly Judged[], findings: readonly Finding[]): 0 | 1 {
  const isBad = findings.some(({ fact }) => fact === undefined) || judged.some(({ requests }) => requests === 0);
  return isBad ? 1 : 0;
}

/** For people. */
export function reportText(
  judged: readonly Judged[],
  findings: readonly Finding[],
  undescribed: readonly Undescribed[] = [],
): string {
  const explained = findings.filter(({ fact }) => fact !== undefined);
  const open = findings.filter(({ fact }) => fact === undefined);
  const sections: [title: string, lines: string[]][] = [
    [
      'Differences that the facts explain:',
      explained.flatMap(({ what, count, fact }) => [`${what} (${count}×)`, `  ${fact}`]),
    ],
    ['Good to know:', judged.flatMap(notesText)],
    ['Mismatches:', open.flatMap(({ what, count, example }) => [`${what} (${count}×)`, `  ${requestText(example)}`])],
  ];
  return [
    ...judged.map(judgedText),
    ...undescribed.map(({ name, why }) => `${name}: ${why}`),
    ...sections.flatMap(([title, lines]) =>
      lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)],
    ),
    '',
    open.length === 0 ? 'No mismatch.' : `${open.length} kinds of mismatch.`,
  ].join('\n');
}

function judgedText({ vendor, requests, operations }: Judged): string {
  if (requests === 0) return `${vendor}: no request was recorded`;
  return `${vendor}: ${requests} different requests to ${operations} operations`;
}

function notesText({ vendor, notes, remarks }: Judged): string[] {
  return [
    ...[...notes].map(([what, count]) => `${vendor}: ${what} (${count}×)`),
    ...remarks.map((remark) => `${vendor}: ${remark}`),
  ];
}

const longest = 600;

function requestText({ method, path, query, type, body }: Recorded): string {
  const shown =
    body === undefined ? '' : `\n    ${type ?? ''} ${body.slice(0, longest)}${body.length > longest ? '…' : ''}`;
  return `${method} ${path}${query === '' ? '' : `?${query}`}${shown}`;
}
