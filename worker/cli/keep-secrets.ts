import { messageOf } from '../../core/errors.ts';
import { envFileOf, saveToEnvFile } from './env-file.ts';
import { secretVariable } from './secret-variables.ts';

/** A secret that a vendor made up is shown by it once, or not at all: it must not be lost on the way into the configuration. */
export interface KeptSecrets {
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
  const named = Object.entries(given).map(([name, secret]) => ({
    name,
    secret,
    variable: secretVariable(text, source, name),
  }));
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
