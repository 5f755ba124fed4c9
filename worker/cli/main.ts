import { Command, CommanderError } from 'commander';
import { addAnswers, addCatalogue, addExport, addMail, addReport } from './commands/account.ts';
import { addContacts } from './commands/contacts.ts';
import { addFollowUps } from './commands/follow-ups.ts';
import { addEvents, addJourneys } from './commands/journeys.ts';
import { addPolicy } from './commands/policy.ts';
import { addAlerts, addWebhooks } from './commands/receivers.ts';
import { addRequests } from './commands/requests.ts';
import { lastExitCode } from './commands/run.ts';
import { addRunning, addStart } from './commands/running.ts';
import { addChecks, addCompletion, addDashboard, addInit } from './commands/setting-up.ts';
import { addBackfill, addSources } from './commands/sources.ts';
import { addStandin } from './commands/standin.ts';
import { version } from './version.ts';

/** The command line. Each file in `commands/` holds some commands: their options, help, and what they load to run. */
export const program = new Command('closeloop')
  .description('Asks customers for feedback when their ticket, deal or order closes, and writes the grade back on it.')
  .version(version)
  .showHelpAfterError('(add --help for how to use it)')
  .exitOverride();

// In the order in which help and docs/reference/commands.md list them.
const groups = [
  addStart,
  addChecks,
  addInit,
  addPolicy,
  addBackfill,
  addRunning,
  addAlerts,
  addSources,
  addJourneys,
  addFollowUps,
  addWebhooks,
  addEvents,
  addContacts,
  addReport,
  addAnswers,
  addMail,
  addCatalogue,
  addRequests,
  addExport,
  addDashboard,
  addStandin,
  addCompletion,
];
for (const add of groups) add(program);

/** Runs the command that these arguments name, one at a time in a process. @returns its exit code */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return lastExitCode();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // A mistake on the command line exits with 2, like one in a configuration file.
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** Reads the process's command line, and does what it says. */
export async function main(): Promise<void> {
  // Output that can't be written ends the process without a trace; silently where the reader has gone (SIGPIPE), like other tools.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      const isClosed = 'code' in error && error.code === 'EPIPE';
      if (!isClosed) process.stderr.write(`The output can't be written: ${error.message}\n`);
      process.exit(isClosed ? 141 : 1);
    });
  }
  program.hook('preAction', async () => {
    const { lastWords } = await import('./finish.ts');
    // Node calls this also for a rejection that nobody caught.
    process.on('uncaughtException', (error) => {
      process.stderr.write(lastWords(error));
      process.exit(1);
    });
  });
  process.exitCode = await runCommand(process.argv.slice(2));
  // A connection that can't be ended (Redis gone) must not keep a finished process alive.
  setTimeout(() => process.exit(), 5_000).unref();
}
