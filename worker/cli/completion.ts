import type { Command, Option } from 'commander';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import { addQuestions } from './init/flags.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

interface Word {
  text: string;
  meaning: string;
}

/** A command on the line, and the words that may follow it. */
interface Place {
  /** Its names, each behind a space: ` journeys list`; empty for the program itself. */
  at: string;
  /** The commands below it, or what its first argument may be. */
  words: Word[];
  flags: Flag[];
}

interface Flag extends Word {
  takesValue: boolean;
  /** The only values that it takes; none: any, or a file. */
  choices: readonly string[];
}

/** Prints what a shell reads to complete commands, options and their values. Made of the program itself, so that nothing is missing. */
export async function completion(shell: Shell, program: Command, connectors: readonly BuiltIn[]): Promise<number> {
  const init = program.commands.find((command) => command.name() === 'init');
  if (init) await addQuestions(init, connectors);
  process.stdout.write(scripts[shell](placesOf(program, '')));
  return 0;
}

function placesOf(command: Command, at: string): Place[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  const commands = below.map((one) => ({ text: one.name(), meaning: meaningOf(one.description()) }));
  const values = (command.registeredArguments[0]?.argChoices ?? []).map((text) => ({ text, meaning: '' }));
  const flags = help.visibleOptions(command).flatMap(flagOf);
  return [
    { at, words: [...commands, ...values], flags },
    ...below.flatMap((one) => placesOf(one, `${at} ${one.name()}`)),
  ];
}

function flagOf({ long, description, required, optional, argChoices }: Option): Flag[] {
  if (!long) return [];
  return [{ text: long, meaning: meaningOf(description), takesValue: required || optional, choices: argChoices ?? [] }];
}

/** The first part of the sentence: a list of completions has no room for more. */
const meaningOf = (description: string): string => description.split(/[;(]/)[0]?.trim() ?? '';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const either = (texts: readonly string[]): string => texts.map(quoted).join(' | ');

/** Behind an option that takes a value: its choices, or nothing, so that the shell completes files. */
function afterFlags(places: readonly Place[], listOf: (choices: readonly string[]) => string): string {
  const flags = places.flatMap(({ at, flags }) => flags.map((flag) => ({ ...flag, text: `${at} ${flag.text}` })));
  const taking = flags.filter(({ takesValue }) => takesValue);
  const byChoices = Map.groupBy(taking, ({ choices }) => listOf(choices));
  return [...byChoices].map(([list, all]) => `    ${either(all.map(({ text }) => text))}) found=${list} ;;`).join('\n');
}

const below = (places: readonly Place[]): string => either(places.flatMap(({ at }) => (at === '' ? [] : [at])));

function bash(places: readonly Place[]): string {
  const list = (words: readonly string[]) => quoted(words.join(' '));
  const rows = places.map(
    ({ at, words, flags }) => `      ${quoted(at)}) found=${list([...words, ...flags].map(({ text }) => text))} ;;`,
  );
  return `# Completes closeloop's commands and options in bash: source <(closeloop completion bash)
_closeloop() {
  local at='' word found=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in ${below(places)}) at="$at $word" ;; esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD-1]}" in
${afterFlags(places, list)}
    *) case "$at" in
${rows.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _closeloop closeloop
`;
}

function zsh(places: readonly Place[]): string {
  const list = (words: readonly string[]) => `(${words.map(quoted).join(' ')})`;
  const described = ({ text, meaning }: Word) => (meaning === '' ? text : `${text}:${meaning}`);
  const rows = places.map(
    ({ at, words, flags }) => `      ${quoted(at)}) found=${list([...words, ...flags].map(described))} ;;`,
  );
  return `# Completes closeloop's commands and options in zsh, after compinit: source <(closeloop completion zsh)
_closeloop() {
  local at='' word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in ${below(places)}) at="$at $word" ;; esac
  done
  case "$at \${words[CURRENT-1]}" in
${afterFlags(places, list)}
    *) case "$at" in
${rows.join('\n')}
    esac ;;
  esac
  (( \${#found} )) && _describe closeloop found || _files
}
compdef _closeloop closeloop
`;
}

function fish(places: readonly Place[]): string {
  const line = (at: string, rest: string, { meaning }: Word) =>
    `complete -c closeloop -n ${quoted(`__closeloop_at "${at}"`)} ${rest}${meaning === '' ? '' : ` -d ${fishQuoted(meaning)}`}`;
  const argumentOf = ({ takesValue, choices }: Flag) => {
    if (!takesValue) return '';
    return choices.length === 0 ? ' -r' : ` -x -a ${quoted(choices.join(' '))}`;
  };
  const rows = places.flatMap(({ at, words, flags }) => [
    ...words.map((word) => line(at, `-f -a ${word.text}`, word)),
    ...flags.map((flag) => line(at, `-l ${flag.text.slice(2)}${argumentOf(flag)}`, flag)),
  ]);
  return `# Completes closeloop's commands and options in fish: closeloop completion fish | source
function __closeloop_at
  set -l at ''
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    switch "$at $word"
      case ${places.flatMap(({ at }) => (at === '' ? [] : [quoted(at)])).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${rows.join('\n')}
`;
}

/** Inside quotes fish knows two escapes. */
const fishQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

const scripts: Record<Shell, (places: readonly Place[]) => string> = { bash, zsh, fish };
