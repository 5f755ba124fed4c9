import { CloseloopError } from '../../core/errors.ts';
import type { exports } from './exports.ts';
import type { RuntimeOptions } from './runtime.ts';
import { openService } from './service.ts';

/** All of it as JSON, one object a line, read page by page: memory doesn't grow with it. */
export async function exportAll(
  options: RuntimeOptions & { what: (typeof exports)[number]; campaign?: number },
): Promise<number> {
  const { campaign, what } = options;
  if (campaign !== undefined && (what === 'campaigns' || what === 'surveys')) {
    throw new CloseloopError(`--campaign is for requests and custom-fields: ${what} are exported whole.`, {
      kind: 'config',
    });
  }
  const service = await openService(options);
  const line = (record: object): void => void process.stdout.write(`${JSON.stringify(record)}\n`);
  switch (what) {
    case 'campaigns':
      for await (const one of service.campaigns()) line(one);
      break;
    case 'requests':
      for await (const { results, unreadable } of service.requestPages({ campaign })) {
        for (const one of results) line(one);
        for (const error of unreadable) process.stderr.write(`${error.message}\n`);
      }
      break;
    case 'custom-fields':
      for (const id of campaign === undefined ? await allCampaigns(service) : [campaign]) {
        for (const one of await service.customFieldStatistics({ campaign: id })) line({ campaign: id, ...one });
      }
      break;
    case 'surveys':
      for await (const { id } of service.surveys()) line(await service.survey(id));
      break;
  }
  return 0;
}

async function allCampaigns(service: Awaited<ReturnType<typeof openService>>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of service.campaigns()) ids.push(id);
  return ids;
}
