import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf, refusal } from '../../core/errors.ts';
import { ConfigError } from '../config/problem.ts';
import { envFileOf, environmentOf, saveToEnvFile } from './env-file.ts';
import type { RuntimeOptions } from './runtime.ts';

const File = z.object({ sources: z.record(z.string(), z.record(z.string(), z.unknown())) });
const variable = /^\$\{(\w+)\}$/;

/**
 * The environment variable in which a secret from the vendor has to stand, by the text of the configuration. `name`: the
 * setting that it is for. That is the variable which the file names there, unless another setting has the same one; then,
 * or where there is none, one of the source's own. A `name` that is no setting of the source is a variable's already.
 */
export function secretVariable(text: string, source: string, name: string): string {
  const file: unknown = parse(text);
  const setting = File.parse(file).sources[source]?.[name];
  if (setting === undefined) return name;
  const [first] = Array.isArray(setting) ? setting : [setting];
  const named = typeof first === 'string' ? variable.exec(first)?.[1] : undefined;
  if (named !== undefined && JSON.stringify(file).split(`\${${named}}`).length === 2) return named;
  const own = `${source}_${Array.isArray(setting) ? name.replace(/s$/, '') : name}`;
  return own
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .toUpperCase();
}

/** A secret that a vendor made up is shown by it once, or not at all: it must not be lost on the way into the configuration. */
interface KeptSecrets {
  /** The file that holds the secrets now; undefined: no file holds them, and the caller shows them. */
  file?: string;
  /** The secrets by variable. */
  secrets: Readonly<Record<string, string>>;
  /** Sentences that say what a person has to do. */
  next: string[];
}

/**
 * Writes the secrets of a source into the file beside the configuration, each under the variable that the configuration names for it.
 * @param text of the configuration
 * @param given by setting, as connectors give them
 * @param env of the process, which counts before the file
 */
export function keepSecrets(
  { config, text, source }: { config: string; text: string; source: string },
  given: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
): KeptSecrets {
  const named = Object.entries(given).map(([name, secret]) => {
    return { name, secret, variable: secretVariable(text, source, name) };
  });
  const secrets = Object.fromEntries(named.map(({ variable, secret }) => [variable, secret]));
  const next = named.flatMap(({ name, variable, secret }) => [
    ...(text.includes(`\${${variable}}`)
      ? []
      : [`Let ${name === variable ? 'a setting' : name} of this source name it: "\${${variable}}".`]),
    ...(env[variable] === undefined || env[variable] === secret
      ? []
      : [`The environment has another ${variable}, which counts before the file: change it there, or take it out.`]),
  ]);
  const file = envFileOf(config);
  try {
    saveToEnvFile(file, secrets);
  } catch (error) {
    const why = `${file} could not be written (${messageOf(error)}): put this into the environment yourself, it may not be shown again.`;
    return { secrets, next: [why, ...next] };
  }
  return { file, secrets, next: [...next, 'A closeloop that runs takes it up at its next start.'] };
}

/** The error of a configuration, with a remedy for each missing secret of a vendor. Other errors stay as they are. */
export async function lostVariables(
  error: unknown,
  { config, configText, connectors, env = environmentOf(config, process.env) }: Omit<RuntimeOptions, 'data'>,
): Promise<unknown> {
  if (!(error instanceof ConfigError)) return error;
  const text = configText ?? readFileSync(config, 'utf8');
  const isUnset = (variable: string) => env[variable] === undefined || env[variable] === '';
  // A text that is no configuration has no such variable.
  const sources = Object.entries(File.safeParse(parse(text, { logLevel: 'error' })).data?.sources ?? {});
  const adviceFor = async ([name, { connector }]: (typeof sources)[number]): Promise<[string, string][]> => {
    const onboarding = await connectors.find((one) => one.name === connector)?.onboarding?.();
    return (onboarding?.questions ?? []).flatMap(({ setting, variable, ask, whenLost }): [string, string][] => {
      const named = variable === undefined ? undefined : secretVariable(text, name, setting);
      if (named === undefined || !isUnset(named) || !error.message.includes(`variable ${named} is `)) return [];
      return [[named, whenLost ?? ask]];
    });
  };
  const advice = new Map((await Promise.all(sources.map(adviceFor))).flat());
  if (advice.size === 0) return error;
  const lines = [...advice].map(([variable, what]) => `\n  ${variable}: ${what}`);
  return refusal(`${error.message}\nWhere they come from:${lines.join('')}`, error);
}
