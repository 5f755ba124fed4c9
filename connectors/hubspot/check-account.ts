import { z } from 'zod';
import type { Budget, Finding, Quota } from '../../core/connector/contract.ts';
import type { HubSpotSettings } from './settings.ts';

/** What `GET account-info details` tells. */
export const Account = z.object({ portalId: z.coerce.string(), timeZone: z.string().nullish() });

/** Does the token open the account that the settings speak of? */
export function accountFindings(
  settings: Pick<HubSpotSettings, 'portalId' | 'timeZone'>,
  account: z.output<typeof Account>,
): Finding[] {
  const findings: Finding[] = [];
  if (settings.portalId !== undefined && settings.portalId !== account.portalId) {
    findings.push({
      level: 'error',
      at: 'portalId',
      problem: `the access is to HubSpot account ${account.portalId}, the settings say ${settings.portalId}: every event would be left out`,
      remedy: `Set portalId to ${account.portalId}, or take the credentials from account ${settings.portalId}`,
    });
  }
  if (settings.timeZone && account.timeZone && !sameZone(settings.timeZone, account.timeZone)) {
    findings.push({
      level: 'warning',
      at: 'timeZone',
      problem: `the HubSpot account's zone is ${account.timeZone}, not ${settings.timeZone}: a used-up daily quota returns at its midnight, not at ours`,
      remedy: `Set timeZone to ${account.timeZone}, or leave it out`,
    });
  }
  return findings;
}

/** HubSpot says `US/Eastern` for `America/New_York`. */
function sameZone(a: string, b: string): boolean {
  try {
    const canonical = (zone: string) => new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
    return canonical(a) === canonical(b);
  } catch {
    return false;
  }
}

export function appFindings(settings: Pick<HubSpotSettings, 'appId'>, appId: string | undefined): Finding[] {
  if (settings.appId === undefined || appId === undefined || settings.appId === appId) return [];
  return [
    {
      level: 'error',
      at: 'appId',
      problem: `the credentials belong to app ${appId}, the settings say ${settings.appId}: closeloop would take its own writes for another app's, and that app's for its own`,
      remedy: `Set appId to ${appId}, or leave it out`,
    },
  ];
}

/** What is left of the day, as the answers to the check itself told. */
export function listening(budget: Budget): { budget: Budget; day: () => Quota | undefined } {
  let day: Quota | undefined;
  return {
    day: () => day,
    budget: {
      take: (lane, urgency) => budget.take(lane, urgency),
      takePoints: (wanted, urgency) => budget.takePoints(wanted, urgency),
      pause: (ms, lane) => budget.pause(ms, lane),
      left(quota, name) {
        if (name === 'daily') day = quota;
        return budget.left(quota, name);
      },
    },
  };
}

export function quotaFindings(day: Quota | undefined): Finding[] {
  if (day === undefined || day.remaining >= day.limit / 10) return [];
  return [
    {
      level: 'warning',
      at: 'daily quota',
      problem: `${day.remaining} of ${day.limit} API calls are left for today, for all apps of the account together`,
      remedy:
        "See which app uses them (HubSpot: Settings > Integrations > Connected apps, API usage), or buy the API limit increase; closeloop waits for the account's midnight when they are gone",
    },
  ];
}

/** Answers to HubSpot's own surveys, which nobody but HubSpot can write. */
export const Feedback = z.object({ total: z.number() });
export const recentMs = 90 * 86_400_000;

export function surveyFindings(count: number): Finding[] {
  if (count === 0) return [];
  return [
    {
      level: 'warning',
      at: 'feedback surveys',
      problem: `${count} answer${count === 1 ? '' : 's'} to HubSpot's own feedback surveys came within 90 days: a customer may be asked twice about one ticket`,
      remedy: 'Switch the surveys off (HubSpot: Service > Feedback surveys), or leave their recipients out with `when`',
    },
  ];
}
