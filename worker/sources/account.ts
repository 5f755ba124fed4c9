import { z } from 'zod';
import { type CloseloopError, neverSent } from '../../core/errors.ts';
import { createFeedbackClient } from '../../core/feedback/client.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import { baseUrlOf } from '../../core/feedback/settings.ts';
import type { Ports } from '../../core/ports.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { Config } from '../config/config.ts';
import type { RedisClient } from '../redis/client.ts';
import { accountKey } from '../redis/keys.ts';
import type { Seal } from '../redis/seal.ts';

const Account = z.object({
  /** Scheme, host and port. */
  service: z.string(),
  /** A keyed digest of the API key. */
  key: z.string(),
  /** Campaigns that the rules have asked in. Two accounts of a service never share a campaign. */
  campaigns: z.array(z.number()),
});
type Account = z.output<typeof Account>;

/**
 * Stores the service's account at the first start, and refuses a different account later, as its request ids belong to other
 * customers. The account is recognised by the service's address and the API key; a new key must open a campaign of the account.
 * @param adopt accepts the configured account from now on
 * @throws CloseloopError config for another account; what the service answers, where a new key can't be tried
 */
export async function verifyAccount(
  config: Pick<Config, 'feedback' | 'sources'>,
  { redis, seal, ports, adopt = false }: { redis: RedisClient; seal: Seal; ports: Ports; adopt?: boolean },
): Promise<void> {
  const campaigns = campaignNumbers(config.sources.flatMap(({ rules }) => rules));
  const own = { service: baseUrlOf(config.feedback).origin, key: seal.digest(config.feedback.apiKey), campaigns };
  if (adopt) await redis.set(accountKey, JSON.stringify(own));
  else await redis.set(accountKey, JSON.stringify(own), 'NX');
  const known = Account.parse(JSON.parse((await redis.get(accountKey)) ?? JSON.stringify(own)));
  if (known.service !== own.service) throw another(`the service at ${known.service}`);
  if (known.key !== own.key && !(await opensOne(known, config, ports))) {
    throw another('another account: the API key opens none of its campaigns');
  }
  const all = [...new Set([...known.campaigns, ...campaigns])].sort((a, b) => a - b);
  const now = JSON.stringify({ ...own, campaigns: all });
  if (now !== JSON.stringify(known)) await redis.set(accountKey, now);
}

async function opensOne(
  { campaigns }: Account,
  { feedback }: Pick<Config, 'feedback'>,
  ports: Ports,
): Promise<boolean> {
  const client = createFeedbackClient(feedback, ports);
  for (const id of campaigns) {
    try {
      await client.campaign(id);
      return true;
    } catch (error) {
      if (!(error instanceof FeedbackError) || (error.status !== 403 && error.status !== 404)) throw error;
    }
  }
  return false;
}

function another(which: string): CloseloopError {
  return neverSent(
    `The journeys in this Redis belong to ${which}, and "feedback" names another one. Give back "feedback" as it was, or ` +
      'give this account a Redis (or --data) of its own. Where the account has moved, or you mean to go on here in the other: ' +
      '"closeloop start --adopt-account", once',
  );
}
