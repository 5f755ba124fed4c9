import { z } from 'zod';
import {
  type Connector,
  defineConnector,
  type ParsedSource,
  type ReadResult,
  type Source,
  type WriteResult,
} from '../../core/connector/contract.ts';
import { CloseloopError } from '../../core/errors.ts';
import { ownSettings } from './policy.ts';
import type { Path } from './problem.ts';

/*
 * Settings that some commands don't need: a variable that isn't set where such a command runs (a webhook's secret, a vendor's
 * credentials) must not keep it from running.
 */

/** The parts that a command works with: the data in Redis, the Feedback service, or the receivers of alerts. */
export type Uses = 'redis' | 'service' | 'alerts';

/** Stands in for a setting of `feedback` whose variable isn't set: the command calls nothing with it. */
const placeholders: Readonly<Record<string, string>> = {
  baseUrl: 'https://not-set.invalid/api',
  testBaseUrl: 'https://not-set.invalid/api',
  apiKey: 'not-set',
};

/** Is the setting at `path` unneeded? `sealsByKey`: what Redis keeps is sealed with the service's key (redis/data-key.ts). */
export function isUnneeded(path: Path, uses: Uses, sealsByKey: boolean): boolean {
  const [section, name, setting] = path;
  if (section === 'alerts' || section === 'webhooks') return uses !== 'alerts';
  if (section === 'http' || section === 'reports') return true;
  if (section === 'policy') return uses !== 'service';
  if (section === 'redis' || section === 'secretsKey') return uses !== 'redis';
  if (section === 'feedback') {
    if (uses === 'service' || !(String(name) in placeholders)) return false;
    return uses === 'alerts' || !(name === 'apiKey' && sealsByKey);
  }
  return section === 'sources' && setting !== undefined && !ownSettings.includes(String(setting));
}

/** The general settings, without those whose variables aren't set here. */
export function withoutUnneeded(written: Readonly<Record<string, unknown>>, holes: readonly Path[]) {
  const { feedback, webhooks, ...others } = written;
  const ofWebhooks = holes.filter(([section]) => section === 'webhooks');
  // The names of the receivers are known all the same.
  const rest = { ...others, ...(webhooks !== undefined && { webhooks: ofWebhooks.reduce(withPlaceholder, webhooks) }) };
  const sections = new Set(holes.flatMap(([section]) => (section === 'webhooks' ? [] : [section])));
  const known = Object.entries(rest).filter(([section]) => !sections.has(section));
  const names = holes.flatMap(([section, name]) => (section === 'feedback' ? [String(name)] : []));
  const replaced = Object.fromEntries(names.map((name) => [name, placeholders[name]]));
  const shown = typeof feedback === 'object' && feedback !== null ? { ...feedback, ...replaced } : feedback;
  return { ...Object.fromEntries(known), feedback: shown };
}

function withPlaceholder(webhooks: unknown, [, index, setting]: Path): unknown {
  if (!Array.isArray(webhooks)) return webhooks;
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const values: Record<string, unknown> = { url: 'https://not-set.invalid/', secret, secrets: [secret] };
  const key = String(setting);
  return webhooks.map((one, i) => (i === index && key in values ? { ...one, [key]: values[key] } : one));
}

const unset = new CloseloopError(
  'some of the settings of this source are variables that are not set here: set them',
  { kind: 'config' },
  { outcome: 'never-sent' },
);

/**
 * Stands in for a connector whose settings are only partly known here, so that commands can show the source's stored data.
 * @param error thrown by every call
 * @param known the members of the source that are known
 */
export function unopened(
  { name }: Pick<Connector, 'name'>,
  error: CloseloopError = unset,
  { account, ...known }: { account?: string | undefined } & Pick<Partial<Source>, 'forget' | 'writesNoAnswer'> = {},
): ParsedSource & { connector: Connector } {
  const connector = defineConnector({
    name,
    settings: z.unknown(),
    ...(account !== undefined && { account: () => account }),
    open: () => ({
      ...known,
      verify: () => ({ ok: false, why: 'unsigned' }),
      events: () => ({ ok: false, why: error.message }),
      read: async (ids) => ids.map((): ReadResult => ({ ok: false, why: 'error', error })),
      writeBack: async (items) => items.map((): WriteResult => ({ ok: false, why: 'error', error })),
      poll: async () => {
        throw error;
      },
      batchSize: 100,
      taken: { status: 202 },
    }),
  });
  return { connector, ...connector.sources.parse({}) };
}
