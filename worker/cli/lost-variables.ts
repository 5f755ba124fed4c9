import { readFileSync } from 'node:fs';
import { refusal } from '../../core/errors.ts';
import { ConfigError } from '../config/problem.ts';
import { environmentOf } from './env-file.ts';
import type { RuntimeOptions } from './runtime.ts';
import { type NamedSource, secretVariable, sourcesIn } from './secret-variables.ts';

/** The error of a configuration, with a remedy for each missing secret of a vendor. Other errors stay as they are. */
export async function lostVariables(
  error: unknown,
  { config, configText, connectors, env = environmentOf(config, process.env) }: Omit<RuntimeOptions, 'data'>,
): Promise<unknown> {
  if (!(error instanceof ConfigError)) return error;
  const text = configText ?? readFileSync(config, 'utf8');
  const isUnset = (variable: string) => env[variable] === undefined || env[variable] === '';
  const adviceFor = async ({ name, connector }: NamedSource): Promise<[string, string][]> => {
    const onboarding = await connectors.find((one) => one.name === connector)?.onboarding?.();
    return (onboarding?.questions ?? []).flatMap(({ setting, variable, ask, whenLost }): [string, string][] => {
      const named = variable === undefined ? undefined : secretVariable(text, name, setting);
      if (named === undefined || !isUnset(named) || !error.message.includes(`variable ${named} is `)) return [];
      return [[named, whenLost ?? ask]];
    });
  };
  const advice = new Map((await Promise.all(sourcesIn(text).map(adviceFor))).flat());
  if (advice.size === 0) return error;
  const lines = [...advice].map(([variable, what]) => `\n  ${variable}: ${what}`);
  return refusal(`${error.message}\nWhere they come from:${lines.join('')}`, error);
}
