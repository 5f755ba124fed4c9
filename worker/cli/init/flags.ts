import type { Command } from 'commander';
import type { BuiltIn } from '../../../core/connector/built-in.ts';
import { refusal } from '../../../core/errors.ts';
import { isPath, loadExternal } from '../../config/external-connectors.ts';

/** The flag of a setting, without `--`: `event.record` is `event-record`. */
export function flagOf(setting: string): string {
  return setting.replaceAll('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** A flag for each of the vendors' questions that has none yet; secrets have none, as other users of the machine see flags. */
export async function addQuestions(command: Command, connectors: readonly BuiltIn[]): Promise<void> {
  const asked = new Map<string, string[]>();
  for (const { name, onboarding } of connectors) {
    for (const { setting, ask, variable } of (await onboarding?.())?.questions ?? []) {
      if (variable !== undefined) continue;
      const flag = flagOf(setting);
      asked.set(flag, [...(asked.get(flag) ?? []), `${name}: ${ask}`]);
    }
  }
  const known = new Set(command.options.map(({ long }) => long));
  for (const [flag, questions] of asked) {
    if (!known.has(`--${flag}`)) command.option(`--${flag} <text>`, questions.join('; '));
  }
}

/**
 * The built-in connectors, and those of others that `--vendor` names as a configuration would: a file beside that, or a package.
 * @param config the configuration that is to be written
 * @throws CloseloopError config for one that can't be loaded, or can't be asked about
 */
export async function withStrangers(
  builtIn: readonly BuiltIn[],
  vendors: string | undefined,
  config: string,
): Promise<readonly BuiltIn[]> {
  const named = (vendors ?? '').split(',').map((one) => one.trim());
  const found = await loadExternal(
    named.filter((one) => one !== ''),
    { file: config, connectors: builtIn },
  );
  const strangers = [...found].flatMap(([written, external]): BuiltIn[] => {
    if (external.ok) {
      const { connector } = external;
      const { onboarding } = connector;
      if (onboarding === undefined) {
        throw unfit(
          written,
          `the connector ${connector.name} says nothing of what to ask (onboarding): write its section by hand`,
        );
      }
      return [{ name: written, load: async () => connector, onboarding: async () => onboarding }];
    }
    // A name that is neither is told with the names that are known.
    if (isPath(written)) throw unfit(written, external.why);
    return [];
  });
  return [...builtIn, ...strangers];
}

const unfit = (written: string, why: string) => refusal(`--vendor ${written}: ${why}.`);

/** Loads the vendors before the command line is read, as its flags depend on them. A vendor that can't be loaded is reported when the command line is read. */
export async function vendorsNamedIn(
  words: readonly string[],
  builtIn: readonly BuiltIn[],
): Promise<readonly BuiltIn[]> {
  const flagValue = (flag: string): string | undefined => {
    const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
    const word = words[at];
    return word?.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : at < 0 ? undefined : words[at + 1];
  };
  return await withStrangers(builtIn, flagValue('--vendor'), flagValue('--config') ?? 'closeloop.yaml').catch(
    () => builtIn,
  );
}
