import { Command, InvalidArgumentError } from 'commander';
import { connectors } from '../connectors/index.ts';
import { CloseloopError } from '../core/errors.ts';
import { standins } from '../standins/index.ts';
import { listJourneys, showJourney } from './commands/journeys.ts';
import { standin } from './commands/standin.ts';
import { start } from './commands/start.ts';
import { journeyStates } from './journey/journey.ts';

/** The one place that knows the list of connectors and reads the command line. */
const program = new Command('closeloop')
  .description('Asks customers for feedback when their ticket, deal or order closes, and writes the grade back on it.')
  .version('0.1.0')
  .showHelpAfterError('(add --help for how to use it)');

program
  .command('start')
  .description('run the loop; without --config the demo, which needs no account and no server')
  .option('--config <file>', 'YAML configuration')
  .addOption(
    program.createOption('--role <role>', 'what this process does').choices(['intake', 'worker', 'all']).default('all'),
  )
  .option('--once', 'do everything that is due, then end: exit code 0 when it went well', false)
  .option('--data <dir>', 'where the embedded Redis keeps its data when the configuration names none', '.closeloop')
  .addHelpText('after', '\nExample:\n  closeloop start --config closeloop.yaml --role worker')
  .action((options) => run(() => start({ ...options, connectors })));

const journeys = program.command('journeys').description('what happened to each closing, and why');
const where = (command: Command) =>
  command
    .requiredOption('--config <file>', 'YAML configuration')
    .option('--data <dir>', 'data of the embedded Redis', '.closeloop')
    .option('--json', 'one JSON object a line, for machines', false);
where(journeys.command('list'))
  .description('journeys, last changed first')
  .option('--source <name>', 'only this source')
  .addOption(program.createOption('--state <state>', 'only this state').choices([...journeyStates]))
  .option('--limit <n>', 'at most so many', wholeNumber, 50)
  .addHelpText('after', '\nExample:\n  closeloop journeys list --config closeloop.yaml --state skipped')
  .action((options) => run(() => listJourneys({ ...options, connectors })));
where(journeys.command('show <journey>'))
  .description('one journey with every step, its time and its reason')
  .addHelpText('after', '\nExample:\n  closeloop journeys show support/41960.1 --config closeloop.yaml')
  .action((journey: string, options) => run(() => showJourney({ ...options, journey, connectors })));

program
  .command('standin')
  .description(`run a local double of somebody's API: ${Object.keys(standins).join(', ')}`)
  .addArgument(program.createArgument('<name>', 'whose').choices(Object.keys(standins)))
  .option('--port <n>', 'port on 127.0.0.1; 0 takes a free one', wholeNumber, 0)
  .addHelpText('after', '\nExample:\n  closeloop standin feedback --port 9100')
  .action((name: string, options: { port: number }) => run(() => standin(name, options.port)));

function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new InvalidArgumentError('It must be a whole number.');
  return n;
}

/** Exit codes: what the command returns; 2 for a mistake the user can mend; 1 for anything else. */
async function run(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    if (!(error instanceof CloseloopError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.advice.kind === 'config' ? 2 : 1;
  }
}

// Mistakes on the command line are the user's to mend, like those in a file.
program.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
for (const command of [...program.commands, ...journeys.commands]) {
  command.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
}
await program.parseAsync();
// A connection that can't be ended (Redis gone) must not keep a finished process alive.
setTimeout(() => process.exit(), 5_000).unref();
