import type { Command } from 'commander';
import type { BuiltIn } from '../../../core/connector/built-in.ts';

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
