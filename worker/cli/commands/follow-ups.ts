import type { Command } from 'commander';
import { positiveNumber, withConfig, words } from './options.ts';
import { runs } from './run.ts';

/** `follow-ups`. */
export function addFollowUps(program: Command): void {
  const followUps = program
    .command('follow-ups')
    .description('what people have to see to because of an answer: see, take, end');
  withConfig(followUps.command('list'), 'follow-ups list --config closeloop.yaml --overdue')
    .description('open and taken ones of all sources, the most overdue first; without the words of customers')
    .option('--source <name>', 'only this source')
    .option('--mine <name>', 'only those that this person has taken, or that are meant for this person', words)
    .option('--overdue', 'only those whose time is up', false)
    .option('--done', 'those that are done, the last one first', false)
    .option('--limit <n>', 'at most so many', positiveNumber, 50)
    .action(runs(async () => (await import('../follow-ups.ts')).listFollowUps));

  withConfig(followUps.command('show <journey>'), 'follow-ups show support/41960.1 --config closeloop.yaml')
    .description('one of them, with the words of the customer and the address of the record: personal data')
    .action(runs(async () => (await import('../follow-ups.ts')).showFollowUp));

  addSteps(followUps);
}

const byHelp = 'who does; left out: the user of this machine';

function addSteps(followUps: Command): void {
  withConfig(followUps.command('take <journey>'), 'follow-ups take support/41960.1 --by Maria --config closeloop.yaml')
    .description('take one up; nobody else can take it then')
    .option('--by <name>', byHelp, words)
    .action(runs(async () => (await import('../follow-ups.ts')).takeFollowUp));

  withConfig(
    followUps.command('done <journey>'),
    'follow-ups done support/41960.1 --by Maria --outcome "Called, sent a new cup" --config closeloop.yaml',
  )
    .description('end one that nobody else has taken')
    .option('--by <name>', byHelp, words)
    .requiredOption('--outcome <text>', 'what was done; kept with the answer, and erased with the person', words)
    .action(runs(async () => (await import('../follow-ups.ts')).endFollowUp));

  withConfig(followUps.command('reopen <journey>'), 'follow-ups reopen support/41960.1 --config closeloop.yaml')
    .description('open one that is done again, or give back one that somebody has taken')
    .option('--by <name>', byHelp, words)
    .action(runs(async () => (await import('../follow-ups.ts')).reopenFollowUp));
}
