import { print, printTable, say } from './output.ts';
import type { CommandOptions } from './runtime.ts';
import { openAccount, printFrom, readFilter, type ServiceFilter } from './service.ts';

/** Shows the account's campaigns, each with the number of requests and their results. */
export async function listCampaigns(options: CommandOptions & ServiceFilter): Promise<number> {
  const { service, timeZone } = await openAccount(options);
  const { since, until } = readFilter(options, timeZone);
  const { type: types, metric: metrics } = options;
  const all = await Array.fromAsync(
    service.campaigns({ statsFrom: since, statsTo: until, type: types, metric: metrics }),
  );
  const rows = all.map((one) => {
    const { id, name, type, metric, send_from: from, send_until: to, stats } = one;
    const hours = `${from.slice(0, 5)}–${to.slice(0, 5)}`;
    const counts = [stats.appeals_total, stats.appeals_graded].map(String);
    return { result: one, cells: [String(id), name, type, metric, hours, ...counts] };
  });
  printTable(options, ['id', 'name', 'type', 'metric', 'sent', 'asked', 'answered'], rows, 'No campaigns.');
  return 0;
}

export async function showCampaign(options: CommandOptions & ServiceFilter & { id: number }): Promise<number> {
  return await printFrom(options, async ({ service, timeZone }) => {
    const { since, until } = readFilter(options, timeZone);
    return await service.campaign(options.id, { statsFrom: since, statsTo: until });
  });
}

export async function listSurveys(options: CommandOptions): Promise<number> {
  const { service } = await openAccount(options);
  const all = await Array.fromAsync(service.surveys());
  const rows = all.map((one) => {
    return { result: one, cells: [String(one.id), one.name, one.is_active ? 'active' : 'not active'] };
  });
  printTable(options, ['id', 'name', 'state'], rows, 'No surveys.');
  return 0;
}

/** Shows a survey: its questions in the order in which the customer sees them. */
export async function showSurvey(options: CommandOptions & { id: number }): Promise<number> {
  const { service } = await openAccount(options);
  const survey = await service.survey(options.id);
  print(options, survey, [`${survey.id}  ${survey.name}${survey.is_active ? '' : ' (not active)'}`, '']);
  const rows = survey.questions.map((one) => {
    const marks = [...(one.required ? ['required'] : []), ...(one.is_active ? [] : ['not shown'])];
    return { result: one, cells: [String(one.id), one.question, one.answer_type, marks.join(', ')] };
  });
  if (!options.json) printTable(options, ['id', 'question', 'answer', ''], rows, 'No questions.');
  for (const { id, mismatches } of survey.unreadable) {
    say(
      `${id === null ? 'A question' : `Question ${id}`} is of another shape than specified, at ${mismatches.join('; ')}.`,
    );
  }
  return 0;
}
