import { closest, distance } from 'fastest-levenshtein';
import { type Document, isMap, isNode, isPair, isSeq, type LineCounter } from 'yaml';
import type { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';

/** One mistake: where it stands and what would be right. Never the value itself, which may be a secret. */
export interface Problem {
  path: string;
  line?: number;
  message: string;
}

/** All mistakes of a configuration at once. */
export class ConfigError extends CloseloopError {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map(({ path, line, message }) => {
      const where = line === undefined ? '' : `${file}:${line}: `;
      return `  ${where}${path === '' ? '' : `${path}: `}${message}`;
    });
    const count = problems.length === 1 ? '1 mistake' : `${problems.length} mistakes`;
    super(`${file} has ${count}:\n${lines.join('\n')}`, { kind: 'config' });
    this.problems = problems;
  }
}

type Path = readonly PropertyKey[];

export function pathText(path: Path): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`)).join('');
}

/** zod's issues as problems: unknown keys get "did you mean", unions the branch that came closest. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], knownKeys: (path: Path) => string[]): [Path, string][] {
  return issues.flatMap((issue): [Path, string][] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => [[...issue.path, key], unknownKey(key, knownKeys(issue.path))]);
    }
    if (issue.code === 'invalid_union') {
      const deepest = issue.errors.toSorted((a, b) => depth(b) - depth(a))[0];
      if (deepest && depth(deepest) > 0) {
        const nested = deepest.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
        return problemsOf(nested, knownKeys);
      }
      const alternatives = issue.errors.flatMap((branch) => branch.map(({ message }) => message));
      return [[issue.path, [...new Set(alternatives)].join(', or ')]];
    }
    if (issue.code === 'invalid_type' && issue.input === undefined && /received undefined/.test(issue.message)) {
      return [[issue.path, 'is missing']];
    }
    return [[issue.path, issue.message.replace(/^Invalid input: /, '')]];
  });
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map(({ path }) => path.length));
}

export function unknownKey(key: string, known: string[]): string {
  const near = known.length > 0 ? closest(key, known) : undefined;
  if (near !== undefined && distance(key, near) <= Math.max(2, Math.floor(key.length / 3))) {
    return `is not a setting; did you mean "${near}"?`;
  }
  return known.length > 0 ? `is not a setting; there are ${known.join(', ')}` : 'is not a setting';
}

/** The line of the value at `path`, or of the nearest thing around it that exists. */
export function lineOf(document: Document, lines: LineCounter, path: Path): number | undefined {
  let node: unknown = document.contents;
  let at: number | undefined;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && String(item.key) === String(key));
      if (!pair) break;
      if (isNode(pair.key) && pair.key.range) at = lines.linePos(pair.key.range[0]).line;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      if (isNode(node) && node.range) at = lines.linePos(node.range[0]).line;
    } else break;
  }
  return at;
}
