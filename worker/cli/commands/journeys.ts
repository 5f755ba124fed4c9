import { type Command, Option } from 'commander';
import { journeyStates } from '../../journey/states.ts';
import { contactKind, dryRunHelp, instantHelp, positiveNumber, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `journeys`. */
export function addJourneys(program: Command): void {
  const journeys = program.command('journeys').description('what happened to each closing, and why; mending');
  filtered(journeys.command('list'), 'journeys list --config closeloop.yaml --state skipped --since 2026-11-20')
    .description('journeys, last changed first')
    .option('--limit <n>', 'at most so many', positiveNumber, 50)
    .option('--dry-run', dryRunHelp, false)
    .action(runs(async () => (await import('../journeys.ts')).listJourneys));

  withConfig(journeys.command('show <journey>'), 'journeys show support/41960.1 --config closeloop.yaml')
    .description('one journey with every step, its time and its reason')
    .option('--dry-run', dryRunHelp, false)
    .option('--answers', 'also what the customer answered, with the texts of the questions: personal data', false)
    .action(runs(async () => (await import('../journeys.ts')).showJourney));

  addRepairs(journeys);
}

/** Adds the commands by which a person changes a journey. */
function addRepairs(journeys: Command): void {
  filtered(
    journeys.command('replay [journey]'),
    'journeys replay --config closeloop.yaml --source support --error "custom fields"',
  )
    .description(
      'take failed, skipped or parked journeys up again: one, or all that fit (failed ones, if no state is given); never asks twice',
    )
    .action(runs(async () => (await import('../repair.ts')).replayJourneys));

  withConfig(journeys.command('cancel <journey>'), 'journeys cancel support/41960.1 --config closeloop.yaml')
    .description('end one before it asks; a request that was not sent yet is cancelled at the service')
    .option('--why <text>', 'for its trace, which outlives an erasure: no names', 'cancelled by a person')
    .action(runs(async () => (await import('../repair.ts')).cancelJourney));

  withConfig(journeys.command('ask-now <journey>'), 'journeys ask-now support/41960.1 --config closeloop.yaml')
    .description(
      'ask a waiting one ahead of its time: as soon as the hours of its campaign and of text messages let it',
    )
    .action(runs(async () => (await import('../repair.ts')).hurryJourney));

  withConfig(
    journeys.command('resolve <journey>'),
    'journeys resolve support/41960.1 --asked 90017 --config closeloop.yaml',
  )
    .description('settle a parked one with what a person found out')
    .option('--asked <request>', 'its customer was asked by this feedback request')
    .option('--not-asked', 'its customer was not asked: it is asked now', false)
    .option('--written', 'its grade is on the record', false)
    .action(runs(async () => (await import('../repair.ts')).resolveJourney));
}

/** `events`. */
export function addEvents(program: Command): void {
  const events = program
    .command('events')
    .description('what was told of records and given up, without a journey to show it');
  withConfig(events.command('list'), 'events list --config closeloop.yaml')
    .description('changes, grades and survey answers that were given up, and why')
    .option('--source <name>', 'only of this source')
    .action(runs(async () => (await import('../events.ts')).listEvents));

  withConfig(events.command('replay [event]'), 'events replay --config closeloop.yaml')
    .description('take one of them up again, or all')
    .option('--source <name>', 'only of this source')
    .action(runs(async () => (await import('../events.ts')).replayEvents));
}

/** Adds the options that choose journeys. */
function filtered(command: Command, call: string): Command {
  return withConfig(command, call)
    .option('--source <name>', 'only this source')
    .addOption(new Option('--state <state>', 'only this state').choices([...journeyStates]))
    .option('--contact <contact>', 'only about this phone number, e-mail address or identifier')
    .addOption(contactKind('whatever it may be'))
    .option('--record <id>', 'only of this record')
    .option('--since <when>', `only changed since: ${instantHelp}`)
    .option('--until <when>', 'only changed before, or due before where they wait')
    .option('--error <text>', 'only with this in their reason');
}
