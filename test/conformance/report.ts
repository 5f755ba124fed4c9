import type { Recorded } from './recorded.ts';
import type { VendorRow } from './vendor-row.ts';

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
    for (const request of own) {
      const spelled = row.spelled?.(request) ?? request;
      const place = `${request.method} ${spelled.path.replaceAll(/\/\d+(?=\/|$)/g, '/{id}')}`;
      const judgement = judges.map((judge) => judge(spelled)).find((one) => one !== undefined);
      const { operation, problems } = judgement ?? { operation: place, problems: ['is not described'] };
      operations.add(operation);
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
    judged.push({ vendor: row.name, requests: own.length, operations: operations.size });
  }
  return { judged, findings: [...findings.values()].toSorted((a, b) => a.what.localeCompare(b.what)) };
}

/** 0 only when every vendor was asked something and nothing is left unexplained. */
export function exitCode(judged: readonly Judged[], findings: readonly Finding[]): 0 | 1 {
  const isBad = findings.some(({ fact }) => fact === undefined) || judged.some(({ requests }) => requests === 0);
  return isBad ? 1 : 0;
}

/** For people. */
export function reportText(judged: readonly Judged[], findings: readonly Finding[]): string {
  const lines = judged.map(({ vendor, requests, operations }) =>
    requests === 0
      ? `${vendor}: no request was recorded`
      : `${vendor}: ${requests} different requests to ${operations} operations`,
  );
  const explained = findings.filter(({ fact }) => fact !== undefined);
  const open = findings.filter(({ fact }) => fact === undefined);
  if (explained.length > 0) lines.push('', 'Differences that the facts explain:');
  for (const { what, count, fact } of explained) lines.push(`  ${what} (${count}×)`, `    ${fact}`);
  if (open.length > 0) lines.push('', 'Mismatches:');
  for (const { what, count, example } of open) lines.push(`  ${what} (${count}×)`, `    ${requestText(example)}`);
  lines.push('', open.length === 0 ? 'No mismatch.' : `${open.length} kinds of mismatch.`);
  return lines.join('\n');
}

const longest = 600;

function requestText({ method, path, query, type, body }: Recorded): string {
  const shown =
    body === undefined ? '' : `\n    ${type ?? ''} ${body.slice(0, longest)}${body.length > longest ? '…' : ''}`;
  return `${method} ${path}${query === '' ? '' : `?${query}`}${shown}`;
}
