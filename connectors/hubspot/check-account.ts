import { z } from 'zod';
import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Budget, ConnectorPorts, Finding, Quota } from '../../core/connector/contract.ts';
import type { HubSpotApi } from './api.ts';
import { paths } from './objects.ts';
import type { HubSpotSettings } from './settings.ts';
import { credentialsOf, tokenApi } from './tokens.ts';

/* Whose access it is, and what that tells. */

/** The response of `GET account-info details`. */
export const Account = z.object({ portalId: z.coerce.string(), timeZone: z.string().nullish() });

/** Does the token belong to the account in the settings? */
export function accountFindings(
  settings: Pick<HubSpotSettings, 'portalId' | 'timeZone'>,
  account: z.output<typeof Account>,
): Finding[] {
  const findings: Finding[] = [];
  if (settings.portalId !== undefined && settings.portalId !== account.portalId) {
    const problem = `the access is to HubSpot account ${account.portalId}, the settings say ${settings.portalId}: every event would be left out`;
    const remedy = `Set portalId to ${account.portalId}, or take the credentials from account ${settings.portalId}`;
    findings.push(errorAt('portalId', problem, remedy));
  }
  if (settings.timeZone && account.timeZone && !sameZone(settings.timeZone, account.timeZone)) {
    const problem = `the HubSpot account's zone is ${account.timeZone}, not ${settings.timeZone}: a used-up daily quota returns at its midnight, not at ours`;
    findings.push(warningAt('timeZone', problem, `Set timeZone to ${account.timeZone}, or leave it out`));
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
  const problem = `the credentials belong to app ${appId}, the settings say ${settings.appId}: closeloop would take its own writes for another app's, and that app's for its own`;
  return [errorAt('appId', problem, `Set appId to ${appId}, or leave it out`)];
}

const PrivateApp = z.object({ appId: z.coerce.string() });
const Introspection = z.object({ app_id: z.coerce.string().optional() });

/**
 * The app that the credentials belong to; undefined if unknown. Neither way is documented for every kind of app, so a refusal means
 * nothing. Source: HubSpot, private apps (token info) and OAuth (introspection).
 */
export async function appIdOf(
  settings: HubSpotSettings,
  api: HubSpotApi,
  ports: ConnectorPorts,
): Promise<string | undefined> {
  const { accessToken, clientId = '', clientSecret = '' } = settings;
  try {
    if (accessToken !== undefined) {
      const options = { body: { tokenKey: accessToken }, answers: [401, 403] };
      const answer = await api.attempt('POST', paths.tokenInfo, PrivateApp, options);
      return answer.ok ? answer.body.appId : undefined;
    }
    const token = await credentialsOf(settings, ports).current();
    const form = { client_id: clientId, client_secret: clientSecret, token, token_type_hint: 'access_token' };
    const call = { method: 'POST', path: `${paths.token}/introspect`, form } as const;
    return (await tokenApi(settings, ports).call(call, Introspection)).app_id;
  } catch {
    return undefined;
  }
}

/** Records the remaining daily quota in the responses to the check itself. */
export function listening(budget: Budget): { budget: Budget; day: () => Quota | undefined } {
  let day: Quota | undefined;
  return {
    day: () => day,
    budget: {
      take: (endpoint, urgency) => budget.take(endpoint, urgency),
      takePoints: (wanted, urgency) => budget.takePoints(wanted, urgency),
      pause: (ms, endpoint) => budget.pause(ms, endpoint),
      reportRemaining(quota, name) {
        if (name === 'daily') day = quota;
        return budget.reportRemaining(quota, name);
      },
    },
  };
}

export function quotaFindings(day: Quota | undefined): Finding[] {
  if (day === undefined || day.remaining >= day.limit / 10) return [];
  const problem = `${day.remaining} of ${day.limit} API calls are left for today, for all apps of the account together`;
  const remedy =
    "See which app uses them (HubSpot: Settings > Integrations > Connected apps, API usage), or buy the API limit increase; closeloop waits for the account's midnight when they are gone";
  return [warningAt('daily quota', problem, remedy)];
}

const Feedback = z.object({ total: z.number() });
const recentMs = 90 * 86_400_000;

/**
 * A warning for answers to HubSpot's own surveys, which only HubSpot can create. None for an app that may not read them.
 */
export async function ownSurveyFindings(api: HubSpotApi, now: Date): Promise<Finding[]> {
  const value = String(now.getTime() - recentMs);
  const body = {
    filterGroups: [{ filters: [{ propertyName: 'hs_createdate', operator: 'GTE', value }] }],
    sorts: [],
    properties: [],
    limit: 1,
    after: 0,
  };
  try {
    const answer = await api.attempt('POST', paths.feedback, Feedback, { body, answers: [403] });
    const count = answer.ok ? answer.body.total : 0;
    if (count === 0) return [];
    const problem = `${count} answer${count === 1 ? '' : 's'} to HubSpot's own feedback surveys came within 90 days: a customer may be asked twice about one ticket`;
    const remedy =
      'Switch the surveys off (HubSpot: Service > Feedback surveys), or leave their recipients out with `when`';
    return [warningAt('feedback surveys', problem, remedy)];
  } catch {
    return [];
  }
}
