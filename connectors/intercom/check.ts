import { z } from 'zod';
import {
  combined,
  errorAt,
  hookUrlFindings,
  unknownReads,
  unseenWebhook,
  vendorProber,
  warningAt,
} from '../../core/connector/check.ts';
import type { ConnectorPorts, Finding, PreflightContext, Source } from '../../core/connector/contract.ts';
import { Me, type People, type Query, version, type Workspace } from './api.ts';
import { attributeComparer } from './attributes.ts';
import { shapeNames } from './record.ts';
import type { IntercomSettings } from './settings.ts';

const Anything = z.unknown();

/** Calls once each endpoint that work reads, which shows missing permissions to read. Permissions to write can't be tried. */
export function checker(
  settings: IntercomSettings,
  workspace: Workspace,
  ports: Pick<ConnectorPorts, 'now'>,
): NonNullable<Source['check']> {
  const attributes = attributeComparer(settings, workspace);
  const since = (field: string, days: number): Query => {
    return { field, operator: '>', value: Math.floor(ports.now().getTime() / 1_000) - days * 86_400 };
  };
  const one = { perPage: 1 };

  return async (about) => {
    const { findings, probe } = vendorProber('accessToken');
    const at = 'accessToken';
    const reads = unknownReads('Intercom', shapeNames, 'attributes are under `attributes`', about.reads);
    const own = [...ofWebhook(settings, about), ...reads];
    const me = await probe({ at, what: 'the workspace' }, () => whose(settings, workspace));
    // The other calls would fail for the same reason.
    if (me === undefined) return [...own, ...findings];
    const people = await probe({ at, what: 'the teammates' }, () => workspace.people('now'));
    const compared = await probe({ at: 'writeBack', what: 'the attributes' }, () => attributes(about));
    const rated = await probe({ at, what: 'the conversations' }, () =>
      workspace.search('conversations', since('conversation_rating.replied_at', 14), Anything, one),
    );
    const users = { field: 'role', operator: '=', value: 'user' } as const;
    await probe({ at, what: 'the contacts' }, () => workspace.search('contacts', users, Anything, one));
    if (settings.ticketCategories.length > 0)
      await probe({ at, what: 'the tickets' }, () =>
        workspace.search('tickets', since('updated_at', 1), Anything, one),
      );
    const inTwo = !settings.ratings && rated !== undefined && rated.rows.length > 0;
    return [
      ...own,
      ...me,
      ...(people ? ofAdmin(settings, people) : []),
      ...combined(compared ?? []).findings,
      ...(inTwo ? [twoSurveys] : []),
      ...findings,
    ];
  };
}

const twoSurveys = warningAt(
  'ratings',
  'Intercom asks for ratings as well: two surveys for one conversation',
  "Switch Intercom's own off, or pass them on (ratings: true)",
);

/** Without a requested version the response names the app's own one, which shapes the webhooks. */
async function whose({ workspace: id, region }: IntercomSettings, { bare }: Workspace): Promise<Finding[]> {
  const call = { method: 'GET', path: '/me' } as const;
  const response = await bare.exchange(call);
  await bare.accept(call, response);
  const { app } = bare.parse(call, response, Me);
  const served = response.headers.get('intercom-version') ?? version;
  const wrong = (at: string, problem: string) =>
    errorAt(at, problem, `Correct ${at}, or take the token of another app`);
  const shaped = `the app's own version, which shapes its webhooks, is ${served}`;
  return [
    ...(app.id_code === id ? [] : [wrong('workspace', `the token is of the workspace ${app.id_code}`)]),
    ...(app.region.toLowerCase() === region ? [] : [wrong('region', `the workspace is in the region ${app.region}`)]),
    ...(served === version ? [] : [warningAt('webhook', shaped, `Set it to ${version} in the Developer Hub`)]),
  ];
}

function ofAdmin({ adminId }: IntercomSettings, { admins }: People): Finding[] {
  if (admins.has(adminId)) return [];
  const remedy = `Take the id of the teammate who writes closeloop's answers; there are: ${[...admins.keys()].join(', ')}`;
  return [errorAt('adminId', 'no teammate of the workspace has this id', remedy)];
}

function ofWebhook(settings: IntercomSettings, { hookUrl }: PreflightContext): Finding[] {
  const found = hookUrlFindings('Intercom', hookUrl, settings.baseUrl !== undefined);
  if (hookUrl === undefined || settings.webhookUrl === hookUrl) return found;
  const remedy = `Enter them as "closeloop setup" lists them, then set webhookUrl to ${hookUrl}`;
  return [...found, unseenWebhook('Intercom', remedy)];
}
