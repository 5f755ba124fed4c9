import { existsSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { BuiltIn } from '../../core/connector/built-in.ts';
import { standins } from '../../standins/index.ts';
import { journeyStates } from '../journey/states.ts';
import { pausableSteps } from '../operations/pausable-steps.ts';
import { exports } from './exports.ts';
import { instantHelp } from './instant-help.ts';
import { version } from './version.ts';

/** The one place that knows the list of connectors and reads the command line. */
export const program = new Command('closeloop')
  .description('Asks customers for feedback when their ticket, deal or order closes, and writes the grade back on it.')
  .version(version)
  .showHelpAfterError('(add --help for how to use it)')
  .exitOverride();

const config = 'YAML configuration; left out: closeloop.yaml in this folder, else what CLOSELOOP_CONFIG names';
const where = (command: Command): Command =>
  command
    .requiredOption('--config <file>', config, defaultConfig())
    .option('--data <dir>', 'data of the embedded Redis', '.closeloop')
    .option('--json', 'for machines: one JSON object a line', false);
const dayHelp = "a day like 2026-11-01, today or yesterday, in the account's zone";
const example = (command: Command, line: string): Command =>
  command.addHelpText('after', `\nExample:\n  closeloop ${line}`);

example(
  program
    .command('start')
    .description('run the loop; where there is no configuration the demo, which needs no account and no server')
    .option('--config <file>', config, defaultConfig())
    .option('--demo', 'the demo, also where there is a configuration', false)
    .addOption(
      program
        .createOption('--role <role>', 'what this process does')
        .choices(['intake', 'worker', 'all'])
        .default('all'),
    )
    .option('--once', 'do everything that is due, then end: exit code 0 when it went well', false)
    .option(
      '--adopt-account',
      'go on with this Redis in the account that "feedback" names, though it belongs to another',
      false,
    )
    .option('--data <dir>', 'where the embedded Redis keeps its data when the configuration names none', '.closeloop'),
  'start --config closeloop.yaml --role worker',
).action((options) =>
  run(import('./start.ts'), ({ start }, connectors) =>
    start({ ...options, config: options.demo ? undefined : options.config, connectors }),
  ),
);

example(
  where(program.command('check'))
    .description('everything that would keep it from working, found at the service and the vendors; 1 for an error')
    .option('--source <name>', 'only this source')
    .option(
      '--try',
      'make one request instead, read it and cancel it at once: is the form of these calls right?',
      false,
    )
    .option('--campaign <id>', 'with --try: in this campaign; left out: an external one of the rules', positiveNumber)
    .option('--contact <contact>', 'with --try: to this contact of your own; nothing is sent, as it is cancelled'),
  'check --try --campaign 99 --config closeloop.yaml',
).action((options) =>
  options.try
    ? run(import('./try-form.ts'), ({ tryForm }, connectors) => tryForm({ ...options, connectors }))
    : run(import('./check.ts'), ({ check }, connectors) => check({ ...options, connectors })),
);

example(
  where(program.command('setup'))
    .description(
      'create what is missing at the vendors (fields, properties, webhooks), after showing it; safe to repeat',
    )
    .option('--source <name>', 'only this source')
    .option('--yes', 'do not ask; with --json nothing is done without it', false),
  'setup --config closeloop.yaml --source support',
).action((options) => run(import('./setup.ts'), ({ setup }, connectors) => setup({ ...options, connectors })));

const init = program
  .command('init')
  .description('ask for everything that a first configuration needs, write it, then run setup and check')
  .option('--config <file>', 'what is written; its secrets go into the .env file beside it', 'closeloop.yaml')
  .option('--data <dir>', 'data of the embedded Redis', '.closeloop')
  .option('--vendor <names>', 'which systems close tickets or orders, separated by commas')
  .option('--source-name <name>', 'what the source is called')
  .option(
    '--feedback-url <url>',
    "the Feedback Collection Service's API; its key: the environment variable FEEDBACK_API_KEY",
  )
  .option('--time-zone <zone>', "the account's; left out: this machine's")
  .option('--public-url <url>', 'where vendors reach closeloop')
  .option('--redis <url>', 'a Redis of your own')
  .option('--campaign <id>', 'the campaign to ask in')
  .option('--field <name=expression>', 'what goes into a custom field of the campaign; repeat it', repeated, [])
  .option('--base-url <url>', "a stand-in's address, in place of the vendor's")
  .option('--overwrite', 'also where the file is there already', false)
  .option('--yes', 'take the usual answer where there is one, and create what is missing at the vendor', false);
example(init, 'init --vendor zendesk').action((options) =>
  run(import('./init/init.ts'), (module, connectors) => module.init({ ...options, connectors })),
);
// The vendors' questions are read only for the command that has a flag for each.
program.hook('preSubcommand', async (_program, command) => {
  if (command !== init) return;
  const [{ addQuestions }, { builtIn }] = await Promise.all([
    import('./init/flags.ts'),
    import('../../connectors/built-in.ts'),
  ]);
  await addQuestions(init, builtIn);
});

example(
  where(program.command('preview'))
    .description('what would be sent about a record, to whom, when and why, or why not; sends nothing')
    .requiredOption('--source <name>', 'the source')
    .requiredOption('--record <id>', 'the record, as its journeys name it')
    .option('--show-record', 'also what rules and fields see of it', false),
  'preview --config closeloop.yaml --source support --record 41960',
).action((options) => run(import('./preview.ts'), ({ preview }, connectors) => preview({ ...options, connectors })));

example(
  where(program.command('why'))
    .description('why a customer was asked or not, closing by closing; 1 when closeloop has never heard of them')
    .argument('<about>', 'an e-mail address, phone number or identifier of the customer, a record, or a journey')
    .option('--source <name>', 'only of this source'),
  'why carl@example.com --config closeloop.yaml',
).action((about: string, options) =>
  run(import('./why.ts'), ({ why }, connectors) => why({ ...options, about, connectors })),
);

example(
  where(program.command('windows'))
    .description('the coming weeks: when each rule may ask, on the clock of a recipient; 1 where it never may')
    .option('--source <name>', 'only rules of this source')
    .option('--rule <name>', 'only this rule')
    .option('--zone <zone>', "of the recipient; left out: the account's")
    .option('--from <day>', 'the first day; left out: today')
    .option('--weeks <n>', 'so many', positiveNumber, 2),
  'windows --rule "phone team" --zone America/New_York --from 2026-12-21 --config closeloop.yaml',
).action((options) => run(import('./windows.ts'), ({ windows }, connectors) => windows({ ...options, connectors })));

example(
  where(program.command('backfill'))
    .description('ask about closings of the past; interrupted, the same command goes on')
    .requiredOption('--source <name>', 'the source')
    .requiredOption('--since <when>', `closings from then on: ${instantHelp}`)
    .option('--until <when>', 'and before; left out: now')
    .option('--limit <n>', 'at most so many', positiveNumber)
    .option('--per-hour <n>', 'so many an hour, at most', positiveNumber, 200)
    .option('--dry-run', 'only tell what would become of them', false),
  'backfill --config closeloop.yaml --source support --since 2026-11-01 --dry-run',
).action((options) => run(import('./backfill.ts'), ({ backfill }, connectors) => backfill({ ...options, connectors })));

example(
  where(program.command('status')).description('each source: journeys by state, what is stopped, what webhooks missed'),
  'status --config closeloop.yaml',
).action((options) => run(import('./status.ts'), ({ status }, connectors) => status({ ...options, connectors })));

// A child process of `start`, for jobs that are suspected of crashing a process.
where(program.command('quarantine', { hidden: true })).action((options) =>
  run(import('./quarantine.ts'), ({ quarantine }, connectors) => quarantine({ ...options, connectors })),
);

const source = program.command('source').description('sources as a whole');
const paused = (command: Command): Command =>
  where(command).addOption(
    program.createOption('--step <step>', 'only this step; left out: all').choices([...pausableSteps]),
  );
example(
  paused(source.command('pause <name>'))
    .description(
      'stop work on a source, in all processes, until "source resume": its deliveries are stored and wait; what runs already ends',
    )
    .option('--why <text>', 'shown by "status" to everybody who looks: no names of customers'),
  'source pause support --step ask --why "wrong text in campaign 12" --config closeloop.yaml',
).action((name: string, options) =>
  run(import('./source-pause.ts'), ({ pauseSource }, connectors) => pauseSource({ ...options, name, connectors })),
);
example(
  paused(source.command('resume <name>')).description(
    'go on with what "source pause" has stopped; what stopped itself for a configuration error is tried at once',
  ),
  'source resume support --config closeloop.yaml',
).action((name: string, options) =>
  run(import('./source-pause.ts'), ({ resumeSource }, connectors) => resumeSource({ ...options, name, connectors })),
);
example(
  where(source.command('rename <old> <new>')).description(
    'move all that is stored of a source to the name it has in the configuration now; interrupted, the same command goes on',
  ),
  'source rename support helpdesk --config closeloop.yaml',
).action((from: string, to: string, options) =>
  run(import('./source.ts'), ({ renameSource }, connectors) => renameSource({ ...options, from, to, connectors })),
);

example(
  where(source.command('new <name>'))
    .description(
      'a source that is held up, as it may be another under a new name, is none: nothing that the other asked counts for it',
    )
    .requiredOption('--beside <old>', 'the source that it was taken for'),
  'source new returns --beside support --config closeloop.yaml',
).action((name: string, options) =>
  run(import('./source.ts'), ({ newSource }, connectors) => newSource({ ...options, name, connectors })),
);

const journeys = program.command('journeys').description('what happened to each closing, and why; mending');
const filtered = (command: Command): Command =>
  where(command)
    .option('--source <name>', 'only this source')
    .addOption(program.createOption('--state <state>', 'only this state').choices([...journeyStates]))
    .option('--contact <contact>', 'only about this phone number, e-mail address or identifier')
    .option('--record <id>', 'only of this record')
    .option('--since <when>', `only changed since: ${instantHelp}`)
    .option('--error <text>', 'only with this in their reason');

example(
  filtered(journeys.command('list'))
    .description('journeys, last changed first')
    .option('--limit <n>', 'at most so many', positiveNumber, 50),
  'journeys list --config closeloop.yaml --state skipped --since 2026-11-20',
).action((options) =>
  run(import('./journeys.ts'), ({ listJourneys }, connectors) => listJourneys({ ...options, connectors })),
);
example(
  where(journeys.command('show <journey>')).description('one journey with every step, its time and its reason'),
  'journeys show support/41960.1 --config closeloop.yaml',
).action((journey: string, options) =>
  run(import('./journeys.ts'), ({ showJourney }, connectors) => showJourney({ ...options, journey, connectors })),
);
example(
  filtered(journeys.command('replay [journey]')).description(
    'take failed, skipped or parked journeys up again: one, or all that fit (failed ones, if no state is given); never asks twice',
  ),
  'journeys replay --config closeloop.yaml --source support --error "custom fields"',
).action((journey: string | undefined, options) =>
  run(import('./repair.ts'), ({ replayJourneys }, connectors) => replayJourneys({ ...options, journey, connectors })),
);
example(
  where(journeys.command('cancel <journey>'))
    .description('end one before it asks; a request that was not sent yet is cancelled at the service')
    .option('--why <text>', 'for its trace, which outlives an erasure: no names', 'cancelled by a person'),
  'journeys cancel support/41960.1 --config closeloop.yaml',
).action((journey: string, options) =>
  run(import('./repair.ts'), ({ cancelJourney }, connectors) => cancelJourney({ ...options, journey, connectors })),
);
example(
  where(journeys.command('resolve <journey>'))
    .description('settle a parked one with what a person found out')
    .option('--asked <request>', 'its customer was asked by this feedback request')
    .option('--not-asked', 'its customer was not asked: it is asked now', false)
    .option('--written', 'its grade is on the record', false),
  'journeys resolve support/41960.1 --asked 90017 --config closeloop.yaml',
).action((journey: string, options) =>
  run(import('./repair.ts'), ({ resolveJourney }, connectors) => resolveJourney({ ...options, journey, connectors })),
);

example(
  where(program.command('collect'))
    .description('collect the grades of every campaign now and write them back, then end')
    .option('--once', 'the only way there is: "start" collects all the time', true),
  'collect --once --config closeloop.yaml',
).action((options) =>
  run(import('./collect.ts'), ({ collectOnce }, connectors) => collectOnce({ ...options, connectors })),
);

const events = program
  .command('events')
  .description('what was told of records and given up, without a journey to show it');
example(
  where(events.command('list'))
    .description('changes, grades and survey answers that were given up, and why')
    .option('--source <name>', 'only of this source'),
  'events list --config closeloop.yaml',
).action((options) =>
  run(import('./events.ts'), ({ listEvents }, connectors) => listEvents({ ...options, connectors })),
);
example(
  where(events.command('replay [event]'))
    .description('take one of them up again, or all')
    .option('--source <name>', 'only of this source'),
  'events replay --config closeloop.yaml',
).action((event: string | undefined, options) =>
  run(import('./events.ts'), ({ replayEvents }, connectors) => replayEvents({ ...options, event, connectors })),
);

const alerts = program.command('alerts').description('who is told when a person has to act');
example(
  where(alerts.command('test')).description('send an alert that says it is a test to everybody whom "alerts" names'),
  'alerts test --config closeloop.yaml',
).action((options) =>
  run(import('./alerts.ts'), ({ testAlerts }, connectors) => testAlerts({ ...options, connectors })),
);

const contact = program.command('contact').description('what is stored about a person');
example(
  where(contact.command('show <contact>')).description('what the service knows of them'),
  'contact show +37255512345 --config closeloop.yaml',
).action((text: string, options) =>
  run(import('./contact.ts'), ({ showContact }, connectors) => showContact({ ...options, contact: text, connectors })),
);
example(
  where(contact.command('mask <contact>'))
    .description(
      'erase them: masked at the service, forgotten here, taken off records, with proof; 3 when it is not done yet, 4 when something could not be read; can not be undone',
    )
    .option('--yes', 'really', false),
  'contact mask carl@example.com --yes --config closeloop.yaml',
).action((text: string, options) =>
  run(import('./contact.ts'), ({ maskContact }, connectors) => maskContact({ ...options, contact: text, connectors })),
);
const erasures = contact.command('erasures').description('people to be forgotten: what is not done yet');
example(
  where(erasures.command('list'))
    .description('erasures that are not done yet, and what holds each up')
    .option('--source <name>', 'only asked for through this source')
    .option('--subjects', 'also whom each is about: personal data', false),
  'contact erasures list --config closeloop.yaml',
).action((options) =>
  run(import('./contact.ts'), ({ listErasures }, connectors) => listErasures({ ...options, connectors })),
);
example(
  where(erasures.command('retry [erasure]'))
    .description(
      'try one, or all that are not done yet, now; 3 when any is still not done, 4 when something could not be read',
    )
    .option('--source <name>', 'only asked for through this source'),
  'contact erasures retry --config closeloop.yaml',
).action((erasure: string | undefined, options) =>
  run(import('./contact.ts'), ({ retryErasures }, connectors) => retryErasures({ ...options, erasure, connectors })),
);
example(
  where(contact.command('access-log <contact>')).description('who looked at their data in the service'),
  'contact access-log carl@example.com --config closeloop.yaml',
).action((text: string, options) =>
  run(import('./contact.ts'), ({ showAccessLog }, connectors) =>
    showAccessLog({ ...options, contact: text, connectors }),
  ),
);

example(
  where(program.command('report'))
    .description('the grades of a period beside those of the period before it, as the service counts them')
    .option('--since <day>', `requests scheduled from this day on; ${dayHelp}; left out: thirty days in all`)
    .option('--until <day>', 'up to and including this day; left out: today')
    .option('--by <fields>', 'by the values of these custom fields, separated by commas: Agent,Store')
    .option('--campaign <id>', 'only of this campaign', positiveNumber)
    .option('--changed-since <day>', 'with --by: whose grade changed on or after this day')
    .addOption(program.createOption('--format <format>').choices(['table', 'csv', 'json']).default('table')),
  'report --since 2026-10-01 --until 2026-10-31 --by Store --config closeloop.yaml',
).action((options) => run(import('./report.ts'), ({ report }, connectors) => report({ ...options, connectors })));

const campaigns = program.command('campaigns').description("the account's campaigns, as the service tells of them");
example(
  where(campaigns.command('list'))
    .description('all but drafts')
    .option('--since <day>', `counting requests scheduled from this day on; ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .addOption(channels())
    .addOption(metrics()),
  'campaigns list --type sms --config closeloop.yaml',
).action((options) =>
  run(import('./catalogue.ts'), ({ listCampaigns }, connectors) => listCampaigns({ ...options, connectors })),
);
example(
  where(campaigns.command('show'))
    .description('one, with its custom fields and statistics')
    .addArgument(program.createArgument('<id>', 'its number').argParser(positiveNumber))
    .option('--since <day>', `counting requests scheduled from this day on; ${dayHelp}`)
    .option('--until <day>', 'up to and including this day'),
  'campaigns show 12 --config closeloop.yaml',
).action((id: number, options) =>
  run(import('./catalogue.ts'), ({ showCampaign }, connectors) => showCampaign({ ...options, id, connectors })),
);

const surveys = program.command('surveys').description("the account's surveys");
example(where(surveys.command('list')).description('all'), 'surveys list --config closeloop.yaml').action((options) =>
  run(import('./catalogue.ts'), ({ listSurveys }, connectors) => listSurveys({ ...options, connectors })),
);
example(
  where(surveys.command('show'))
    .description('one, with its questions')
    .addArgument(program.createArgument('<id>', 'its number').argParser(positiveNumber)),
  'surveys show 3 --config closeloop.yaml',
).action((id: number, options) =>
  run(import('./catalogue.ts'), ({ showSurvey }, connectors) => showSurvey({ ...options, id, connectors })),
);

const requests = program.command('requests').description('feedback requests at the service, by hand');
example(
  where(requests.command('list'))
    .description('those of a campaign, or all')
    .option('--campaign <id>', 'only of this campaign', positiveNumber)
    .option('--since <day>', `scheduled from this day on; ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .option('--changed-since <day>', 'whose grade changed on or after this day')
    .option('--limit <n>', 'at most so many', positiveNumber, 50),
  'requests list --campaign 12 --config closeloop.yaml',
).action((options) =>
  run(import('./requests.ts'), ({ listRequests }, connectors) => listRequests({ ...options, connectors })),
);
example(where(requests.command('get <id>')).description('one'), 'requests get 90017 --config closeloop.yaml').action(
  (id: string, options) =>
    run(import('./requests.ts'), ({ getRequest }, connectors) => getRequest({ ...options, id, connectors })),
);
example(
  where(requests.command('create'))
    .description('one past rules and throttle, without a journey')
    .requiredOption('--campaign <id>', 'the campaign', positiveNumber)
    .requiredOption('--contact <contact>', 'phone number, e-mail address or identifier')
    .option('--fields <json>', 'custom field values by name')
    .addOption(
      program
        .createOption(
          '--as <kind>',
          'what the contact is; left out: an identifier in an external campaign, else as it looks',
        )
        .choices(['phone', 'email', 'identifier']),
    )
    .option('--scheduled <when>', `${instantHelp}; left out: after the campaign's own delay`),
  'requests create --campaign 12 --contact carl@example.com --config closeloop.yaml',
).action((options) =>
  run(import('./requests.ts'), ({ createRequest }, connectors) => createRequest({ ...options, connectors })),
);
example(
  where(requests.command('grade <id>'))
    .description('in an external campaign')
    .addArgument(program.createArgument('<grade>', "a number of the campaign's scale").argParser(grade)),
  'requests grade 90017 5 --config closeloop.yaml',
).action((id: string, grade: number, options) =>
  run(import('./requests.ts'), ({ gradeRequest }, connectors) => gradeRequest({ ...options, id, grade, connectors })),
);
example(
  where(requests.command('comment <id> <text>')).description('in an external campaign'),
  'requests comment 90017 "Thanks" --config closeloop.yaml',
).action((id: string, text: string, options) =>
  run(import('./requests.ts'), ({ commentRequest }, connectors) =>
    commentRequest({ ...options, id, comment: text, connectors }),
  ),
);
example(
  where(requests.command('cancel <id>')).description('while it is scheduled'),
  'requests cancel 90017 --config closeloop.yaml',
).action((id: string, options) =>
  run(import('./requests.ts'), ({ cancelRequest }, connectors) => cancelRequest({ ...options, id, connectors })),
);

example(
  where(program.command('export'))
    .description("the service's data as JSON, one object a line")
    .addArgument(program.createArgument('<what>', 'what').choices(exports))
    .option('--campaign <id>', 'only of this campaign (requests, custom-fields)', positiveNumber)
    .option('--since <day>', `scheduled from this day on (campaigns: in their statistics); ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .option('--changed-since <day>', 'whose grade changed on or after this day (requests, custom-fields)')
    .addOption(channels())
    .addOption(metrics()),
  'export requests --campaign 12 --config closeloop.yaml > requests.jsonl',
).action((what: (typeof exports)[number], options) =>
  run(import('./export.ts'), ({ exportAll }, connectors) => exportAll({ ...options, what, connectors })),
);

example(
  program
    .command('standin')
    .description(`run a local double of somebody's API, and print how to use it: ${Object.keys(standins).join(', ')}`)
    .addArgument(program.createArgument('<name>', 'whose').choices(Object.keys(standins)))
    .option('--port <n>', 'port on 127.0.0.1; 0 takes a free one', wholeNumber, 0),
  'standin feedback --port 9100',
).action((name: string, options: { port: number }) =>
  run(import('./standin.ts'), ({ standin }) => standin(name, options.port)),
);

function channels() {
  const option = program.createOption('--type <channels...>', 'only campaigns of these channels');
  return option.choices(['sms', 'email', 'mixed', 'widget', 'external']);
}

function metrics() {
  const option = program.createOption('--metric <metrics...>', 'only campaigns of these metrics');
  return option.choices(['avg', 'csat', 'nps', 'survey']);
}

/** The configuration file that is used without `--config`; undefined: there is none. */
function defaultConfig(): string | undefined {
  if (existsSync('closeloop.yaml')) return 'closeloop.yaml';
  return process.env.CLOSELOOP_CONFIG || undefined;
}

function repeated(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 0) throw new InvalidArgumentError('It must be a whole number.');
  return n;
}

function grade(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, like 4 or 4.5.');
  return Number(text);
}

function positiveNumber(text: string): number {
  const n = wholeNumber(text);
  if (n === 0) throw new InvalidArgumentError('It must be more than 0.');
  return n;
}

/** Of the command that ran last. */
let exitCode = 0;

/** Only the command that runs is loaded, so that each starts fast. */
async function run<Module>(
  loading: Promise<Module>,
  command: (module: Module, connectors: readonly BuiltIn[]) => Promise<number>,
): Promise<void> {
  const parts = [loading, import('./finish.ts'), import('../../connectors/built-in.ts')] as const;
  const [module, { finish }, { builtIn }] = await Promise.all(parts);
  exitCode = await finish(() => command(module, builtIn));
}

/** Runs the command that these arguments name, one at a time in a process. @returns its exit code */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
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
    const { lastWords } = await import('./last-words.ts');
    // Also for a rejection that nobody caught.
    process.on('uncaughtException', (error) => {
      process.stderr.write(lastWords(error));
      process.exit(1);
    });
  });
  process.exitCode = await runCommand(process.argv.slice(2));
  // A connection that can't be ended (Redis gone) must not keep a finished process alive.
  setTimeout(() => process.exit(), 5_000).unref();
}
