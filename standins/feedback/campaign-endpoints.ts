import { ok } from '../kit/message.ts';
import { type Campaign, campaignTypes, type FieldValue, metrics, type ValueTally } from './definitions.ts';
import {
  dayParameter,
  type Endpoint,
  endpoint,
  invalid,
  notAChoice,
  notFound,
  paged,
  visibleCampaign,
  wholeNumber,
} from './endpoint.ts';
import { addTally, average, campaignStats, emptyTally, emptyValueTally } from './statistics.ts';
import { sendTimes } from './store.ts';

export const campaignEndpoints: Endpoint[] = [
  endpoint('campaigns.list', 'GET', '/appeals/campaigns', (call) => {
    const types = choices(call.query, 'type', campaignTypes);
    const wanted = choices(call.query, 'metric', metrics);
    const range = statsRange(call.query);
    const found = call.account.campaigns.filter(
      ({ type, metric, state }) =>
        state !== 'draft' &&
        (types.length === 0 || types.includes(type)) &&
        (wanted.length === 0 || wanted.includes(metric)),
    );
    return ok(paged(found, call.url, (campaign) => showCampaign(campaign, range)));
  }),
  endpoint('campaigns.get', 'GET', '/appeals/campaigns/:id', (call) => {
    const campaign = visibleCampaign(call, wholeNumber(call.params.id, 'id'));
    return ok(showCampaign(campaign, statsRange(call.query)));
  }),
  endpoint('customFields.list', 'GET', '/appeals/custom-fields', (call) => {
    const id = call.query.get('campaign');
    if (id === null || id === '') throw invalid('campaign', 'Parameter "campaign" is required.');
    const filter = {
      from: dayParameter(call.query, 'date_from'),
      to: dayParameter(call.query, 'date_to'),
      changedSince: dayParameter(call.query, 'changed_since'),
    };
    return ok(fieldStatistics(visibleCampaign(call, wholeNumber(id, 'campaign')), filter));
  }),
  endpoint('surveys.list', 'GET', '/surveys/', (call) =>
    ok(paged(call.account.surveys, call.url, ({ id, name, isActive }) => ({ id, name, is_active: isActive }))),
  ),
  endpoint('surveys.get', 'GET', '/surveys/:id', (call) => {
    const id = wholeNumber(call.params.id, 'id');
    const survey = call.account.surveys.find((one) => one.id === id);
    if (survey === undefined) throw notFound();
    const { name, isActive, questions } = survey;
    return ok({ id, name, is_active: isActive, questions });
  }),
];

/** Days of the account's zone, both included. */
interface Range {
  from: number | undefined;
  to: number | undefined;
}

const inside = (day: number, { from, to }: Range): boolean =>
  (from === undefined || day >= from) && (to === undefined || day <= to);

const statsRange = (query: URLSearchParams): Range => ({
  from: dayParameter(query, 'stats_from'),
  to: dayParameter(query, 'stats_to'),
});

function choices(query: URLSearchParams, name: string, allowed: readonly string[]): string[] {
  const given = query.getAll(name);
  const wrong = given.find((value) => !allowed.includes(value));
  if (wrong !== undefined) throw invalid(name, notAChoice(wrong));
  return given;
}

function showCampaign(campaign: Campaign, range: Range): object {
  const { sendFrom, sendUntil } = sendTimes(campaign);
  return {
    id: campaign.id,
    type: campaign.type,
    metric: campaign.metric,
    name: campaign.name,
    grade_list: campaign.gradeList,
    send_from: sendFrom,
    send_until: sendUntil,
    send_delay: campaign.sendDelay,
    custom_fields: campaign.fields.map(({ name, fieldType, required, choices }) => ({
      name,
      field_type: fieldType,
      required,
      choices,
    })),
    stats: campaignStats(campaign.metric, campaign.gradeList, tallyIn(campaign, range)),
  };
}

/** Costs nothing without a range, and one step per day with requests with one. */
function tallyIn(campaign: Campaign, range: Range) {
  if (range.from === undefined && range.to === undefined) return campaign.total;
  const sum = emptyTally(campaign.gradeList);
  for (const [day, tally] of campaign.days) if (inside(day, range)) addTally(sum, tally);
  return sum;
}

function fieldStatistics(campaign: Campaign, filter: Range & { changedSince: number | undefined }): object[] {
  const unfiltered = Object.values(filter).every((day) => day === undefined);
  return campaign.fields.flatMap((field, position) => {
    const kept = campaign.values[position];
    if (kept === undefined) return [];
    const tallies = unfiltered ? kept.values() : counted(campaign, position, filter);
    const values = [...tallies]
      .filter((tally) => tally.requests > 0)
      .map(({ value, requests, graded, sum }) => ({ value, count: requests, average_grade: average(sum, graded) }))
      .sort((a, b) => b.average_grade - a.average_grade || b.count - a.count);
    return [{ id: field.id, name: field.name, values }];
  });
}

/** Dates may be any, so these are counted anew over the campaign's requests. */
function counted(
  campaign: Campaign,
  position: number,
  filter: Range & { changedSince: number | undefined },
): Iterable<ValueTally> {
  const tallies = new Map<FieldValue, ValueTally>();
  for (const request of campaign.requests) {
    if (!inside(request.day, filter)) continue;
    const changedAt = request.answer?.gradeChangedAt ?? null;
    if (filter.changedSince !== undefined) {
      if (changedAt === null || campaign.account.zone.day(changedAt) < filter.changedSince) continue;
    }
    const value = request.values?.[position] ?? null;
    if (value === null) continue;
    const tally = tallies.get(value) ?? emptyValueTally(value);
    tallies.set(value, tally);
    tally.requests += 1;
    const grade = request.answer?.grade ?? null;
    if (grade === null) continue;
    tally.graded += 1;
    tally.sum += grade;
  }
  return tallies.values();
}
