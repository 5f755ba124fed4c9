import { z } from 'zod';
import type { ConnectorPorts } from '../../core/connector.ts';
import type { ShopifyApi } from './client.ts';
import type { ShopifySettings } from './settings.ts';
import { listSubscriptions, subscribe, topicsFor } from './subscriptions.ts';

/** When the webhooks were last looked at, and where they delivered to then. */
export const Watched = z.object({ at: z.iso.datetime(), uri: z.string().max(500).optional() });
export type Watched = z.output<typeof Watched>;

/**
 * Shopify removes a webhook whose deliveries failed for four hours, without a word. So they are looked at now and then, and what is
 * missing is made again, to the address of the others or, where none is left, to the one of the last look.
 */
export function watcher(
  settings: ShopifySettings,
  api: ShopifyApi,
  { now, log }: Pick<ConnectorPorts, 'now' | 'log'>,
): (last: Watched | undefined) => Promise<Watched | undefined> {
  const { shop, webhooks, watchEvery } = settings;
  const topics = topicsFor(settings);

  return async (last) => {
    const at = now();
    if (!webhooks || (last !== undefined && at.getTime() - Date.parse(last.at) < watchEvery)) return last;
    const found = (await listSubscriptions(api, 'background')).filter(({ topic }) => topics.includes(topic));
    const uris = [...new Set(found.map(({ uri }) => uri))];
    const [only] = uris;
    const uri = uris.length === 1 ? only : last?.uri;
    const here = found.filter((one) => one.uri === uri).map(({ topic }) => topic);
    const missing = topics.filter((topic) => !here.includes(topic));
    const said = { at: at.toISOString(), ...(uri !== undefined && { uri }) };
    if (missing.length === 0) return said;
    if (uri === undefined) {
      const why =
        uris.length === 0 ? 'has no webhooks of ours' : 'has webhooks to several addresses, but not all to any';
      log.warn({ shop, missing }, `The shop ${why}: run "closeloop setup"; until then only the poll finds its orders`);
      return said;
    }
    for (const topic of missing) await subscribe(api, topic, uri, 'background');
    log.warn(
      { shop, missing },
      'Shopify had removed webhooks of ours; they were made again, and the poll finds what was missed',
    );
    return said;
  };
}
