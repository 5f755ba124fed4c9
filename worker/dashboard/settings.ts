import type { FastifyInstance } from 'fastify';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import { dateText, wallTime } from '../../core/schedule/wall-clock.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { Config } from '../config/config.ts';
import type { Rule } from '../config/rule.ts';
import { testLines } from '../config/test-mode.ts';
import { runningProcesses } from '../operations/processes.ts';
import type { CampaignCache } from '../pipeline/open-service.ts';
import { lastCheck } from '../preflight/last-check.ts';
import { comingDays } from '../support/rule-weeks.ts';
import { Audit } from './audit.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { ruleInWords } from './rule-in-words.ts';
import { serviceThere } from './service.ts';
import { type ShownRule, settingsView } from './views/settings.ts';

const shownEntries = 100;
const shownDays = 7;

/** `/settings`: the rules in words with their hours, the findings of `check`, the running processes, and the audit log. */
export function showSettings(
  app: FastifyInstance,
  { redis, config, engine, now }: Pick<DashboardOptions, 'redis' | 'config' | 'engine' | 'now'>,
): void {
  const audit = new Audit(redis);
  app.get('/settings', async (_request, reply) => {
    const [processes, entries, logins, check, rules] = await Promise.all([
      runningProcesses(redis),
      audit.last(shownEntries),
      new Audit(redis, 'audit-logins').last(shownEntries),
      lastCheck(redis),
      rulesOf(config(), { engine }, now()),
    ]);
    const { timeZone } = config().feedback;
    const body = settingsView({ tests: testLines(config()), rules, check, processes, entries, logins, timeZone });
    return await show(reply, { title: 'Settings', section: '/settings', body });
  });
}

async function rulesOf(config: Config, { engine }: Pick<DashboardOptions, 'engine'>, now: Date): Promise<ShownRule[]> {
  const { problem } = await serviceThere({ engine });
  const { pipelines } = engine();
  const { timeZone } = config.feedback;
  const first = dateText(wallTime(timeZone, now.getTime()).date);
  const all = config.sources.flatMap(({ name: source, rules }) => rules.map((rule) => ({ source, rule })));
  return await Promise.all(
    all.map(async ({ source, rule }) => {
      const cache = pipelines.get(source)?.context.campaigns;
      const campaigns = await campaignsOf(rule, problem === undefined ? cache : undefined);
      const names = new Map(campaigns.flatMap(({ id, campaign }) => (campaign ? [[id, campaign.name] as const] : [])));
      const weeks = campaigns.map(({ id, campaign, why = problem ?? 'it is not known here' }) => {
        try {
          if (!campaign) return { campaign: id, why };
          return { campaign: id, days: comingDays(rule, campaign, config, { first, count: shownDays }) };
        } catch (error) {
          if (!(error instanceof CloseloopError)) throw error;
          return { campaign: id, why: messageOf(error) };
        }
      });
      return { source, name: rule.name, sentence: ruleInWords(rule, names), weeks };
    }),
  );
}

/** The rule's campaigns as they were last read; `why` says why a campaign can't be shown. */
async function campaignsOf(rule: Rule, cache: CampaignCache | undefined) {
  return await Promise.all(
    campaignNumbers([rule]).map(async (id) => {
      try {
        return { id, campaign: await cache?.get(id) };
      } catch (error) {
        if (!(error instanceof CloseloopError)) throw error;
        return { id, why: messageOf(error) };
      }
    }),
  );
}
