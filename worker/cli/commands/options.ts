import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';

export const configHelp =
  'YAML configuration; left out: closeloop.yaml in this folder, else what CLOSELOOP_CONFIG names';
export const dayHelp = "a day like 2026-11-01, today or yesterday, in the account's zone";

/** The options of every command that works on a configured installation. @param call an example, for its help */
export function withConfig(command: Command, call: string): Command {
  return command
    .addHelpText('after', example(call))
    .requiredOption('--config <file>', configHelp, defaultConfig())
    .option('--data <dir>', 'data of the embedded Redis', '.closeloop')
    .option('--json', 'for machines: one JSON object a line', false);
}

/** Options that are gone: one that is given ends the command, and says what to give instead. */
export function withRemoved(command: Command, removed: Readonly<Record<string, string>>): Command {
  for (const [name, instead] of Object.entries(removed)) {
    command.addOption(new Option(`--${name}`).hideHelp());
    command.on(`option:${name}`, () => command.error(`error: --${name} is gone: ${instead}`));
  }
  return command;
}

export const dryRunHelp = 'of what "start --dry-run" does';

/** `--as`. @param otherwise what the contact is without it */
export function contactKind(otherwise: string): Option {
  const help = `what the contact is; left out: ${otherwise}`;
  return new Option('--as <kind>', help).choices(['phone', 'email', 'identifier']);
}

/** Below a command's help: how it is called. */
export function example(line: string): string {
  return `\nExample:\n  closeloop ${line}`;
}

/** The configuration file that is used without `--config`; undefined: there is none. */
export function defaultConfig(): string | undefined {
  if (existsSync('closeloop.yaml')) return 'closeloop.yaml';
  return process.env.CLOSELOOP_CONFIG || undefined;
}

export function repeated(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

export function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new InvalidArgumentError('It must be a whole number.');
  return n;
}

export function positiveNumber(text: string): number {
  const n = wholeNumber(text);
  if (n === 0) throw new InvalidArgumentError('It must be more than 0.');
  return n;
}

export function grade(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, like 4 or 4.5.');
  return Number(text);
}

/** On one line, as traces and tables have it. */
export function words(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  if (line === '') throw new InvalidArgumentError('It must not be empty.');
  return line;
}

/** For `--help`: the forms that `instant` reads. */
export const instantHelp =
  'a day (2026-11-01, today, yesterday), or date and time; without an offset on the clock of feedback.timeZone';
