import type { RuntimeOptions } from './runtime.ts';
import { openAccount, print } from './service.ts';
import { readFilter, type ServiceFilter } from './service-filter.ts';
import { table } from './table.ts';

type Options = RuntimeOptions & { json: boolean };

/** Shows the account's campaigns, each with the number of requests and their results. */
export async function listCampaigns(options: Options & ServiceFilter): Promise<number> {
  const { service, timeZone } = await openAccount(options);
  const { since, until } = readFilter(options, timeZone);
  const rows: string[][] = [];
  for await (const one of service.campaigns({
    statsFrom: since,
    statsTo: until,
    type: options.type,
    metric: options.metric,
  })) {
    if (options.json) process.stdout.write(`${JSON.stringify(one)}\n`);
    const { id, name, type, metric, send_from: from, send_until: to, stats } = one;
    const hours = `${from.slice(0, 5)}–${to.slice(0, 5)}`;
    rows.push([String(id), name, type, metric, hours, String(stats.appeals_total), String(stats.appeals_graded)]);
  }
  show(options, ['id', 'name', 'type', 'metric', 'sent', 'asked', 'answered'], rows, 'No campaigns.');
  return 0;
}

export async function showCampaign(options: Options & ServiceFilter & { id: number }): Promise<number> {
  const { service, timeZone } = await openAccount(options);
  const { since, until } = readFilter(options, timeZone);
  print(await service.campaign(options.id, { statsFrom: since, statsTo: until }), { ...options, timeZone });
  return 0;
}

export async function listSurveys(options: Options): Promise<number> {
  const { service } = await openAccount(options);
  const rows: string[][] = [];
  for await (const one of service.surveys()) {
    if (options.json) process.stdout.write(`${JSON.stringify(one)}\n`);
    rows.push([String(one.id), one.name, one.is_active ? 'active' : 'not active']);
  }
  show(options, ['id', 'name', 'state'], rows, 'No surveys.');
  return 0;
}

/** Shows a survey: its questions in the order in which the customer sees them. */
export async function showSurvey(options: Options & { id: number }): Promise<number> {
  const { service } = await openAccount(options);
  const survey = await service.survey(options.id);
  if (options.json) process.stdout.write(`${JSON.stringify(survey)}\n`);
  const rows = survey.questions.map(({ id, question, answer_type: type, required, is_active: isActive }) => {
    const marks = [...(required ? ['required'] : []), ...(isActive ? [] : ['not shown'])];
    return [String(id), question, type, marks.join(', ')];
  });
  if (!options.json) process.stdout.write(`${survey.id}  ${survey.name}${survey.is_active ? '' : ' (not active)'}\n\n`);
  show(options, ['id', 'question', 'answer', ''], rows, 'No questions.');
  for (const { id, mismatches } of survey.unreadable) {
    const which = id === null ? 'A question' : `Question ${id}`;
    process.stderr.write(`${which} is of another shape than specified, at ${mismatches.join('; ')}.\n`);
  }
  return 0;
}

function show({ json }: Options, head: string[], rows: readonly string[][], none: string): void {
  if (json) return;
  if (rows.length === 0) process.stderr.write(`${none}\n`);
  else process.stdout.write(table([head, ...rows]));
}
