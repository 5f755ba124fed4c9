import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { refusal } from '../../core/errors.ts';

/*
 * `closeloop.env`, beside `closeloop.yaml`, may hold the variables that the configuration names: `closeloop init` writes the file and
 * every command reads it. The process's own environment takes precedence.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/** `closeloop.env` for `closeloop.yaml`. */
export function envFileOf(config: string): string {
  return `${config.replace(/\.ya?ml$/, '')}.env`;
}

/** The environment, completed by the file beside the configuration. */
export function environmentOf(config: string, env: Environment): Environment {
  return { ...readEnvFile(envFileOf(config)), ...env };
}

/** Nothing where there is no such file. */
export function readEnvFile(file: string): Environment {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

const head = '# Secrets of closeloop: for nobody else, and not for version control.\n';

/**
 * Writes variables into the file, readable by its owner only; other lines stay. The new file is written beside the old one and moved
 * into its place, so that no reader finds half a file.
 * @throws CloseloopError config for a value that such a file can't hold
 */
export function saveToEnvFile(file: string, variables: Readonly<Record<string, string>>): void {
  const old = existsSync(file) ? readFileSync(file, 'utf8') : head;
  const isReplaced = (line: string) => Object.hasOwn(variables, /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? '');
  const kept = old
    .split('\n')
    .filter((line) => !isReplaced(line))
    .join('\n')
    .replace(/\n*$/, '\n');
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(name, value)}\n`);
  const fresh = `${file}.new`;
  writeFileSync(fresh, kept + lines.join(''), { mode: 0o600 });
  // The mode above counts only where the file is new.
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}

/** A value as Node reads it back: in quotation marks that the value does not contain. */
function quoted(name: string, value: string): string {
  if (/^[\w+/=:.@-]*$/.test(value)) return value;
  const mark = ["'", '"', '`'].find((one) => !value.includes(one));
  if (mark === undefined || /[\n\r]/.test(value)) {
    throw refusal(`${name} has a line break, or every kind of quotation mark: copy it again.`);
  }
  return `${mark}${value}${mark}`;
}
