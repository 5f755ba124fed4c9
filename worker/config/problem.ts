import { CloseloopError } from '../../core/errors.ts';

export type Path = readonly PropertyKey[];

/** Line and column, both counted from 1. */
export interface Place {
  line: number;
  column: number;
}

/** One mistake in a file: its place, and what would be right. The mistake never holds the value, which may be a secret. */
export interface Problem extends Partial<Place> {
  /** `sources.support.rules[0].campaign`; empty for a mistake of the file as a whole. */
  path: string;
  message: string;
}

/** A mistake whose place in the file is not known yet. */
export interface FoundProblem {
  path: Path;
  message: string;
  /** The place of the mistake, where it isn't the place of `path`. */
  place?: Place;
  /** The mistake is a variable without a value: what the schema says about the missing value is not reported as well. */
  hole?: boolean;
}

/** All mistakes of a configuration at once. */
export class ConfigError extends CloseloopError {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map(({ path, line, column, message }) => {
      const where = line === undefined ? '' : `${file}:${line}:${column ?? 1}: `;
      return `  ${where}${path === '' ? '' : `${path}: `}${message}`;
    });
    const count = problems.length === 1 ? '1 mistake' : `${problems.length} mistakes`;
    super(`${file} has ${count}:\n${lines.join('\n')}`, { kind: 'config' }, { outcome: 'never-sent' });
    this.problems = problems;
  }
}

export function pathText(path: Path): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`)).join('');
}
