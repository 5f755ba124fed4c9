import type { Command } from 'commander';
import { contactKind, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `contact`. */
export function addContacts(program: Command): void {
  const contact = program.command('contact').description('what is stored about a person');
  withConfig(contact.command('show <contact>'), 'contact show +37255512345 --config closeloop.yaml')
    .description('what the service knows of them')
    .addOption(contactKind('whatever it may be'))
    .action(runs(async () => (await import('../contact.ts')).showContact));

  withConfig(contact.command('stored <contact>'), 'contact stored carl@example.com --config closeloop.yaml')
    .description(
      'what closeloop has stored of them: journeys, values, linked addresses, throttles that run; 1: nothing',
    )
    .addOption(contactKind('whatever it may be'))
    .action(runs(async () => (await import('../contact.ts')).showStored));

  withConfig(contact.command('mask <contact>'), 'contact mask carl@example.com --yes --config closeloop.yaml')
    .description(
      'erase them: masked at the service, forgotten here, taken off records, with proof; 3 when it is not done yet, 4 when something could not be read; can not be undone',
    )
    .option('--yes', 'really', false)
    .action(runs(async () => (await import('../contact.ts')).maskContact));

  addErasures(contact);
  withConfig(contact.command('access-log <contact>'), 'contact access-log carl@example.com --config closeloop.yaml')
    .description('who looked at their data in the service')
    .addOption(contactKind('whatever it may be'))
    .action(runs(async () => (await import('../contact.ts')).showAccessLog));
}

/** `contact erasures`. */
function addErasures(contact: Command): void {
  const erasures = contact.command('erasures').description('people to be forgotten: what is not done yet');
  withConfig(erasures.command('list'), 'contact erasures list --config closeloop.yaml')
    .description('erasures that are not done yet, and what holds each up')
    .option('--source <name>', 'only asked for through this source')
    .option('--subjects', 'also whom each is about: personal data', false)
    .action(runs(async () => (await import('../contact.ts')).listErasures));

  withConfig(erasures.command('retry [erasure]'), 'contact erasures retry --config closeloop.yaml')
    .description(
      'try one, or all that are not done yet, now; 3 when any is still not done, 4 when something could not be read',
    )
    .option('--source <name>', 'only asked for through this source')
    .action(runs(async () => (await import('../contact.ts')).retryErasures));
}
