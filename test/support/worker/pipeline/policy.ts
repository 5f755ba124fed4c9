import { expect } from 'vitest';
import { FeedbackError } from '../../../../core/feedback/failure.ts';
import { Campaign } from '../../../../core/feedback/schemas.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { policyOf } from '../../../../worker/pipeline/policy/source-policy.ts';
import { campaign } from '../../core/feedback/samples.ts';
import { ToyVendor } from '../../toy-connector.ts';

/** A campaign that is always open and asks without a delay, with what `more` says otherwise. */
export const campaignWith = (more: object = {}): Campaign =>
  Campaign.parse({
    ...campaign,
    ...{ type: 'mixed', send_from: '00:00:00', send_until: '00:00:00', send_delay: null, custom_fields: [] },
    ...more,
  });

/** Everything that a decision takes of a source `desk`, whose campaigns are these. */
export function decisionContext(
  rules: string,
  {
    general = '',
    campaigns = [campaignWith()],
    ownDomains = [],
  }: { general?: string; campaigns?: readonly Campaign[]; ownDomains?: readonly string[] } = {},
) {
  const text = `
feedback: { baseUrl: "https://feedback.example.com/api", apiKey: k, timeZone: Europe/Tallinn }
${general}
sources: { desk: { connector: toy, secret: good, rules: [${rules}] } }`;
  const { connector } = Object.assign(new ToyVendor(), { parts: { tags: ['ticket.tags'] } });
  const config = loadConfig(text, { env: {}, connectors: [connector] });
  const source = config.sources[0] ?? expect.fail('no source');
  const get = async (id: number): Promise<Campaign> => {
    const found = campaigns.find((one) => one.id === id);
    if (found) return found;
    throw new FeedbackError('no such campaign', { kind: 'permanent' }, { status: 404 });
  };
  return {
    ...policyOf({ ...source, ownDomains }, config),
    name: 'desk',
    storedAs: 'desk',
    campaigns: { get },
  };
}
