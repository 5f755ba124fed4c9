import { Argument, type Command, Option } from 'commander';
import { mailPeriods } from '../../config/mail-periods.ts';
import { namedPeriods, stepNames } from '../../reports/period-names.ts';
import { dayHelp, instantHelp, positiveNumber, withConfig } from './options.ts';
import { runs } from './run.ts';

/** `report`. */
export function addReport(program: Command): void {
  withConfig(
    program.command('report'),
    'report --since 2026-10-01 --until 2026-10-31 --by Store --config closeloop.yaml',
  )
    .description('the grades of a period beside those of the period before it, as the service counts them')
    .option('--since <day>', `requests scheduled from this day on; ${dayHelp}; left out: thirty days in all`)
    .option('--until <day>', 'up to and including this day; left out: today')
    .addOption(new Option('--period <name>', 'in place of days').choices(namedPeriods))
    .option('--by <fields>', 'by the values of these custom fields, separated by commas: Agent,Store')
    .addOption(new Option('--every <step>', 'step by step, beside the step before').choices(stepNames))
    .option('--hours', 'in place of grades: how many answered, by channel and by the hour of asking')
    .option('--campaign <id>', 'only of this campaign', positiveNumber)
    .option('--comments <n>', 'and so many of the newest comments', positiveNumber)
    .option('--changed-since <day>', 'with --by: whose grade changed on or after this day')
    .addOption(new Option('--format <format>').choices(['table', 'csv', 'json']).default('table'))
    .action(runs(async () => (await import('../report.ts')).report));
}

/** `answers`. */
export function addAnswers(program: Command): void {
  withConfig(program.command('answers'), 'answers --cursor-file answers.cursor --config closeloop.yaml > answers.jsonl')
    .description("customers' answers with what became of them, for warehouses and spreadsheets: personal data")
    .option('--since <when>', `answered at or after this: ${instantHelp}`)
    .option('--until <when>', 'answered before this')
    .option('--source <name>', 'only this source')
    .option('--campaign <id>', 'only of this campaign', positiveNumber)
    .option(
      '--cursor-file <file>',
      'only what is new or changed since the last run with this file, which is made at the first',
    )
    .option('--cursor <cursor>', 'the same with the cursor that the last run printed on standard error; "start" begins')
    .addOption(
      new Option('--format <format>', 'a line of JSON each, or a file for spreadsheets')
        .choices(['jsonl', 'csv'])
        .default('jsonl'),
    )
    .option(
      '--fields <names>',
      'of a CSV file: a column each for these custom fields, separated by commas; left out: one for all, as JSON',
    )
    .action(runs(async () => (await import('../answers.ts')).exportAnswers));
}

/** `campaigns`, `surveys`. */
export function addCatalogue(program: Command): void {
  const campaigns = program.command('campaigns').description("the account's campaigns, as the service tells of them");
  withConfig(campaigns.command('list'), 'campaigns list --type sms --config closeloop.yaml')
    .description('all but drafts')
    .option('--since <day>', `counting requests scheduled from this day on; ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .addOption(channels())
    .addOption(metrics())
    .action(runs(async () => (await import('../catalogue.ts')).listCampaigns));

  withConfig(campaigns.command('show'), 'campaigns show 12 --config closeloop.yaml')
    .description('one, with its custom fields and statistics')
    .addArgument(new Argument('<id>', 'its number').argParser(positiveNumber))
    .option('--since <day>', `counting requests scheduled from this day on; ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .action(runs(async () => (await import('../catalogue.ts')).showCampaign));

  const surveys = program.command('surveys').description("the account's surveys");
  withConfig(surveys.command('list'), 'surveys list --config closeloop.yaml')
    .description('all')
    .action(runs(async () => (await import('../catalogue.ts')).listSurveys));

  withConfig(surveys.command('show'), 'surveys show 3 --config closeloop.yaml')
    .description('one, with its questions')
    .addArgument(new Argument('<id>', 'its number').argParser(positiveNumber))
    .action(runs(async () => (await import('../catalogue.ts')).showSurvey));
}

/** `export`. */
export function addExport(program: Command): void {
  withConfig(program.command('export'), 'export requests --campaign 12 --config closeloop.yaml > requests.jsonl')
    .description("the service's data as JSON, one object a line")
    .addArgument(new Argument('<what>', 'what').choices(['campaigns', 'requests', 'custom-fields', 'surveys']))
    .option('--campaign <id>', 'only of this campaign (requests, custom-fields)', positiveNumber)
    .option('--since <day>', `scheduled from this day on (campaigns: in their statistics); ${dayHelp}`)
    .option('--until <day>', 'up to and including this day')
    .option('--changed-since <day>', 'whose grade changed on or after this day (requests, custom-fields)')
    .addOption(channels())
    .addOption(metrics())
    .action(runs(async () => (await import('../export.ts')).exportAll));
}

function channels() {
  const option = new Option('--type <channels...>', 'only campaigns of these channels');
  return option.choices(['sms', 'email', 'mixed', 'widget', 'external']);
}

function metrics() {
  const option = new Option('--metric <metrics...>', 'only campaigns of these metrics');
  return option.choices(['avg', 'csat', 'nps', 'survey']);
}

/** `mail`. */
export function addMail(program: Command): void {
  const mail = program
    .command('mail')
    .description('mails about the results, which "reports" in the configuration names');
  withConfig(mail.command('preview'), 'mail preview --out mail.html --config closeloop.yaml')
    .description('what one says about the last period: personal data; sends nothing')
    .option('--name <name>', 'which; left out: the first')
    .addOption(new Option('--every <period>', 'left out: the first of the mail').choices(mailPeriods))
    .option('--out <file>', 'where its HTML is written to', 'mail.html')
    .action(runs(async () => (await import('../mail.ts')).previewMail));
}
