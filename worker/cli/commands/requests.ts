import { Argument, type Command } from 'commander';
import { contactKind, dayHelp, grade, instantHelp, positiveNumber, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `requests`. */
export function addRequests(program: Command): void {
  const requests = program.command('requests').description('feedback requests at the service, by hand');
  addReading(requests);
  addChanging(requests);
}

function addReading(requests: Command): void {
  withConfig(requests.command('list'), 'requests list --campaign 12 --config closeloop.yaml')
    .description('those of a campaign, or all')
    .option('--campaign <id>', 'only of this campaign', positiveNumber)
    .option('--since <day>', `scheduled from this day on; ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .option('--changed-since <day>', 'whose grade changed on or after this day')
    .option('--limit <n>', 'at most so many', positiveNumber, 50)
    .action(runs(async () => (await import('../requests.ts')).listRequests));

  withConfig(requests.command('get <id>'), 'requests get 90017 --config closeloop.yaml')
    .description('one')
    .action(runs(async () => (await import('../requests.ts')).getRequest));
}

function addChanging(requests: Command): void {
  withConfig(
    requests.command('create'),
    'requests create --campaign 12 --contact carl@example.com --config closeloop.yaml',
  )
    .description('one past rules and throttle, without a journey')
    .requiredOption('--campaign <id>', 'the campaign', positiveNumber)
    .requiredOption('--contact <contact>', 'phone number, e-mail address or identifier')
    .option('--fields <json>', 'custom field values by name')
    .addOption(contactKind('an identifier in an external campaign, else as it looks'))
    .option('--scheduled <when>', `${instantHelp}; left out: after the campaign's own delay`)
    .option('--anyway', 'also a text message that would leave outside the hours of policy.sms')
    .action(runs(async () => (await import('../requests.ts')).createRequest));

  withConfig(requests.command('grade <id>'), 'requests grade 90017 5 --config closeloop.yaml')
    .description('in an external campaign')
    .addArgument(new Argument('<grade>', "a number of the campaign's scale").argParser(grade))
    .action(runs(async () => (await import('../requests.ts')).gradeRequest));

  withConfig(requests.command('comment <id> <text>'), 'requests comment 90017 "Thanks" --config closeloop.yaml')
    .description('in an external campaign')
    .action(runs(async () => (await import('../requests.ts')).commentRequest));

  withConfig(requests.command('cancel <id>'), 'requests cancel 90017 --config closeloop.yaml')
    .description('while it is scheduled')
    .action(runs(async () => (await import('../requests.ts')).cancelRequest));
}
