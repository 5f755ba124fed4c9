import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { CloseloopError } from '../../core/errors.ts';

/*
 * Beside `closeloop.yaml` there may be `closeloop.env`, with the variables that the configuration names: `closeloop init`
 * makes it, and every command reads it. What stands in the environment counts before it.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/** `closeloop.env` for `closeloop.yaml`. */
export function envFileOf(config: string): string {
  return `${config.replace(/\.ya?ml$/, '')}.env`;
}

/** The environment with what stands in the file beside the configuration. */
export function environmentOf(config: string, env: Environment): Environment {
  return { ...readEnvFile(envFileOf(config)), ...env };
}

/** Nothing where there is no such file. */
export function readEnvFile(file: string): Environment {
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

const head = '# Secrets of closeloop: for nobody else, and not for version control.\n';

/**
 * Puts variables into the file, which only its owner can read from then on; other lines stay. It is written beside and moved
 * into place, so that nobody ever finds half of it.
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

/** As Node reads it back: in the quotation marks that are not in it. */
function quoted(name: string, value: string): string {
  if (/^[\w+/=:.@-]*$/.test(value)) return value;
  const mark = ["'", '"', '`'].find((one) => !value.includes(one));
  if (mark === undefined || /[\n\r]/.test(value)) {
    throw new CloseloopError(`${name} has a line break, or every kind of quotation mark: copy it again.`, {
      kind: 'config',
    });
  }
  return `${mark}${value}${mark}`;
}
