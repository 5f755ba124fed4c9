import { refusal } from '../../core/errors.ts';
import { say, writeLines } from './output.ts';
import type { RuntimeOptions } from './runtime.ts';
import { openAccount, readFilter, requestFilter, type ServiceFilter } from './service.ts';

type What = 'campaigns' | 'requests' | 'custom-fields' | 'surveys';

/** The options that narrow what is read, as people write them. */
const options: readonly (readonly [name: keyof ServiceFilter, written: string])[] = [
  ['campaign', '--campaign'],
  ['since', '--since'],
  ['until', '--until'],
  ['changedSince', '--changed-since'],
  ['type', '--type'],
  ['metric', '--metric'],
];

/** The options that narrow each export. For campaigns, `since` and `until` limit their statistics. */
const takes: Record<What, readonly (keyof ServiceFilter)[]> = {
  campaigns: ['since', 'until', 'type', 'metric'],
  requests: ['campaign', 'since', 'until', 'changedSince'],
  'custom-fields': ['campaign', 'since', 'until', 'changedSince'],
  surveys: [],
};
/** Exports everything as JSON, one object a line. It reads page by page, so that memory does not grow with the export. */
export async function exportAll(given: RuntimeOptions & ServiceFilter & { what: What }): Promise<number> {
  const { what, type, metric } = given;
  const which = options.flatMap(([name, written]) => (takes[what].includes(name) ? [written] : [])).join(', ');
  for (const [name, written] of options) {
    if (given[name] === undefined || takes[what].includes(name)) continue;
    throw refusal(
      `${written} does not narrow ${what}${which === '' ? ', which are exported whole' : `: these do: ${which}`}.`,
    );
  }
  const account = await openAccount(given);
  const { service, timeZone } = account;
  const { campaign, since, until, changedSince } = readFilter(given, timeZone);
  switch (what) {
    case 'campaigns': {
      const query = { statsFrom: since, statsTo: until, type, metric };
      for await (const { results } of service.campaignPages(query)) await writeLines(results);
      break;
    }
    case 'requests': {
      const { query, fits } = requestFilter(given, account);
      for await (const { results, unreadable } of service.exportPages(query)) {
        await writeLines(results.filter(fits));
        for (const error of unreadable) say(error.message);
      }
      break;
    }
    case 'custom-fields':
      for await (const { id } of campaign === undefined ? service.campaigns() : [{ id: campaign }]) {
        const query = { campaign: id, dateFrom: since, dateTo: until, changedSince };
        await writeLines((await service.customFieldStatistics(query)).map((one) => ({ campaign: id, ...one })));
      }
      break;
    case 'surveys':
      for await (const { id } of service.surveys()) await writeLines([await service.survey(id)]);
      break;
  }
  return 0;
}
