import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import type { ShopifyApi } from './api.ts';
import type { ShopifySettings } from './settings.ts';
import { listSubscriptions, subscribe, topicsFor } from './subscriptions.ts';

/** When the webhooks were last checked, and their address, once a webhook was seen there. */
export const Watched = z.object({ at: z.iso.datetime(), uri: z.string().max(500).optional() });
export type Watched = z.output<typeof Watched>;

/**
 * Shopify silently removes a webhook whose deliveries failed for four hours. The watcher checks the webhooks every `watchEvery` and
 * recreates missing ones. Webhooks that never existed are created by `setup`; without `http.publicUrl` all are.
 */
export function watcher(
  settings: ShopifySettings,
  api: ShopifyApi,
  { now, log, hookUrl }: Pick<ConnectorPorts, 'now' | 'log' | 'hookUrl'>,
): (last: Watched | undefined) => Promise<Watched | undefined> {
  const { shop, webhooks, watchEvery } = settings;
  const topics = topicsFor(settings);

  return async (last) => {
    const at = now();
    if (!webhooks || (last !== undefined && at.getTime() - Date.parse(last.at) < watchEvery)) return last;
    const found = (await listSubscriptions(api, 'background')).filter(({ topic }) => topics.includes(topic));
    const here = found.filter(({ uri }) => hookUrl === undefined || uri === hookUrl).map(({ topic }) => topic);
    const missing = topics.filter((topic) => !here.includes(topic));
    // After a rename of the source its webhooks may still deliver to the earlier address. Then `setup` makes new ones, and a person deletes these.
    const stand = last?.uri !== hookUrl && found.some(({ uri }) => uri === last?.uri);
    const uri = here.length > 0 || (last?.uri !== undefined && !stand) ? hookUrl : undefined;
    if (missing.length > 0 && uri === undefined) {
      const where = hookUrl === undefined ? '; with http.publicUrl set, removed ones are made again' : ` to ${hookUrl}`;
      log.warn(
        { shop, missing },
        `The shop lacks webhooks of ours${where}: run "closeloop setup"; until then only the poll finds its orders`,
      );
    } else if (missing.length > 0 && uri !== undefined) {
      for (const topic of missing) await subscribe(api, topic, uri, 'background');
      log.warn(
        { shop, missing },
        'Shopify had removed webhooks of ours; they were made again, and the poll finds what was missed',
      );
    }
    return { at: at.toISOString(), ...(uri !== undefined && { uri }) };
  };
}
