import { type Config, loadConfig } from '../../../worker/config/config.ts';
import { ConfigError, type Problem } from '../../../worker/config/problem.ts';
import { ToyVendor } from '../toy-connector.ts';

/** The service, of which nothing is asked. */
export const service =
  'feedback: { baseUrl: "https://feedback.example.com/api", apiKey: key, timeZone: Europe/Tallinn }';

interface Written {
  /** Whole lines beside the sources. */
  general?: string;
  /** Settings of the one source, `desk`, beside its rule. */
  source?: string;
  /** The campaign of its rule, and what else that has. */
  campaign?: string;
  vendor?: { connector: ToyVendor['connector'] };
}

/** A configuration of one source of toys, whose rule asks everybody. */
export function toyConfig({ general = '', source = '', campaign = '12', vendor = new ToyVendor() }: Written): Config {
  const rule = `{ name: all, campaign: ${campaign}, contact: customer.email }`;
  const desk = `{ connector: toy, secret: s, ${source === '' ? '' : `${source}, `}rules: [${rule}] }`;
  const text = [service, general, `sources: { desk: ${desk} }`].join('\n');
  return loadConfig(text, { env: {}, connectors: [vendor.connector] });
}

/** What is wrong with the configuration that this loads. */
export function problemsOf(load: () => unknown): readonly Problem[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
