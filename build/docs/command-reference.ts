import type { Argument, Command, Option } from 'commander';
import { builtIn } from '../../connectors/built-in.ts';
import { addQuestions } from '../../worker/cli/init/flags.ts';
import { program } from '../../worker/cli/main.ts';
import { code, table } from './table.ts';

/** Every command that can be given, `journeys list` and not `journeys`, in the order of `--help`. */
export function commandsOf(parent: Command = program): Command[] {
  const shown = parent
    .createHelp()
    .visibleCommands(parent)
    .filter((one) => one.name() !== 'help');
  return shown.flatMap((one) => (one.commands.length > 0 ? commandsOf(one) : [one]));
}

/** `journeys list` */
export function nameOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent === program ? command.name() : `${nameOf(parent)} ${command.name()}`;
}

/** What `--help` gives as an example, without `closeloop`. */
export function exampleOf(command: Command): string | undefined {
  let help = '';
  const writeOut = (text: string): void => {
    help += text;
  };
  command.copyInheritedSettings(command).configureOutput({ writeOut }).outputHelp();
  return /Example:\n {2}closeloop (.*)/.exec(help)?.[1];
}

export async function commandReference(): Promise<string> {
  const init = program.commands.find((command) => command.name() === 'init');
  if (init !== undefined) await addQuestions(init, builtIn);
  const sections = commandsOf().map((command) => {
    const usage = ['closeloop', nameOf(command), command.usage()].join(' ');
    const parts = [
      `## ${nameOf(command)}`,
      `${sentence(command.description())}`,
      `\`\`\`sh\n${usage}\n\`\`\``,
      argumentsOf(command),
      optionsOf(command),
      `Example:\n\n\`\`\`sh\nclosecommand\n\`\`\``.replace(
        'closecommand',
        `closeloop ${exampleOf(command) ?? nameOf(command)}`,
      ),
    ];
    return parts.filter((part) => part !== '').join('\n\n');
  });
  return `# Command reference

Every command, made from the command line itself (\`npm run schema\`). \`npx closeloop …\` where the package is installed,
\`npm run closeloop -- …\` in a checkout. \`closeloop --version\` tells the version, \`--help\` behind any command what is here.

- **\`--config\`** left out: \`closeloop.yaml\` of the current folder, else the file that \`CLOSELOOP_CONFIG\` names.
- **\`--json\`** is for machines: one JSON object a line, times in UTC. What ends a command is told on standard error and by the exit code; \`check\`
  prints its object in every case.
- **Times** are read and shown on the clock of \`feedback.timeZone\`: a day (\`2026-11-01\`, \`today\`, \`yesterday\`), or date and time; one with an
  offset is an instant.
- **Variables** of the configuration come from the environment, else from the \`.env\` file beside it. \`status\` and \`journeys list\` and \`show\`
  need none of the sources and of the service's key, \`requests\`, \`export\` and \`contact show\` none of the sources.

## Exit codes

${table(
  ['code', 'meaning'],
  [
    ['0', 'done'],
    ['1', 'it failed, or something was found (`check`, which finds refused credentials as well)'],
    ['2', 'wrong use, or a wrong configuration; also when credentials are refused (but not of `check`)'],
    [
      '3',
      '`check --strict`: warnings, and no error. `preview --since`: a source would ask about none of its closings. `contact mask`, `contact erasures retry`: not done yet, it is tried again',
    ],
    ['4', '`contact mask`, `contact erasures retry`: something could not be read, and is named'],
    ['5', 'Redis does not answer, or takes no writes: what is missing is done when the command is given again'],
    ['130', 'ended by Ctrl-C'],
    ['141', 'nobody reads the output any more'],
  ],
)}

${sections.join('\n\n')}
`;
}

function argumentsOf(command: Command): string {
  const rows = command.registeredArguments.map((one: Argument) => [
    code(one.name()),
    sentence(chosen(one.description, one.argChoices)),
  ]);
  return rows.every(([, meaning]) => meaning === '') ? '' : table(['argument', 'meaning'], rows);
}

function optionsOf(command: Command): string {
  const rows = command.options
    .filter(({ hidden }) => !hidden)
    .map((one) => [code(one.flags), presetOf(one), sentence(chosen(one.description, one.argChoices))]);
  return rows.length === 0 ? '' : table(['option', 'default', 'meaning'], rows);
}

/** The configuration's depends on the folder, and its meaning says so. */
function presetOf({ long, defaultValue, mandatory }: Option): string {
  if (defaultValue === undefined || defaultValue === false || long === '--config')
    return mandatory && long !== '--config' ? '**required**' : '';
  return Array.isArray(defaultValue) ? '' : code(String(defaultValue));
}

const chosen = (text: string, choices: readonly string[] | undefined): string =>
  choices === undefined ? text : `${text}: ${choices.map(code).join(', ')}`;

function sentence(text: string): string {
  // `<name>` outside of code would be taken for a tag, and not be shown.
  const shown = text.replaceAll(/`[^`]*`|</g, (part) => (part === '<' ? '\\<' : part));
  return text === '' ? '' : `${shown.charAt(0).toUpperCase()}${shown.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
