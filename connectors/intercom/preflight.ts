import { z } from 'zod';
import { errorAt, manualStep, twoSurveys, unseenWebhook, warningAt } from '../../core/connector/check.ts';
import type { ConnectorPorts, Finding, SetupStep } from '../../core/connector/contract.ts';
import type { DeskPreflight } from '../../core/connector/desk/preflight.ts';
import { Me, type Query, version, type Workspace } from './api.ts';
import { attributesCompared } from './attributes.ts';
import { shapeNames } from './record.ts';
import type { IntercomSettings } from './settings.ts';

/** Calls each endpoint that the source reads once, which shows missing permissions to read. Permissions to write can't be tested. */
export function preflight(
  settings: IntercomSettings,
  workspace: Workspace,
  { now }: Pick<ConnectorPorts, 'now'>,
): DeskPreflight {
  const { ratings, ticketCategories, baseUrl, webhookUrl } = settings;
  const since = (field: string, days: number): Query => {
    return { field, operator: '>', value: Math.floor(now().getTime() / 1_000) - days * 86_400 };
  };
  const search = (of: 'conversations' | 'tickets' | 'contacts', query: Query) =>
    workspace.search(of, query, z.unknown(), { perPage: 1 });

  return {
    credential: 'accessToken',
    shape: { names: shapeNames, hint: 'attributes are under `attributes`' },
    isStandin: baseUrl !== undefined,
    probes: [
      { what: 'the workspace', read: () => whose(settings, workspace) },
      { what: 'the teammates', read: () => ofAdmin(settings, workspace) },
      {
        what: 'the conversations',
        async read() {
          const { rows } = await search('conversations', since('conversation_rating.replied_at', 14));
          return !ratings && rows.length > 0 ? [twoSurveys('Intercom', 'conversation')] : [];
        },
      },
      { what: 'the contacts', tries: () => search('contacts', { field: 'role', operator: '=', value: 'user' }) },
      {
        what: 'the tickets',
        tries: async () => ticketCategories.length > 0 && (await search('tickets', since('updated_at', 1))),
      },
    ],
    fields: (grades) => attributesCompared(settings, workspace, grades),
    own({ hookUrl }) {
      if (hookUrl === undefined || webhookUrl === hookUrl) return [];
      const remedy = `Enter them as "closeloop setup" lists them, then set webhookUrl to ${hookUrl}`;
      return [unseenWebhook('Intercom', remedy)];
    },
    steps({ hookUrl }) {
      return hookUrl === undefined || webhookUrl !== undefined ? [] : [webhookStep(settings, hookUrl)];
    },
  };
}

/**
 * Checks the workspace and the app's version. Without a requested version the response names the app's own version, which decides the form of
 * the webhooks.
 */
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

async function ofAdmin({ adminId }: IntercomSettings, workspace: Workspace): Promise<Finding[]> {
  const { admins } = await workspace.people('now');
  if (admins.has(adminId)) return [];
  const remedy = `Take the id of the teammate who writes closeloop's answers; there are: ${[...admins.keys()].join(', ')}`;
  return [errorAt('adminId', 'no teammate of the workspace has this id', remedy)];
}

function topicsOf({ ratings, eraseArchived, ticketCategories }: IntercomSettings): string[] {
  const of = (what: string, ...names: string[]) => names.map((name) => `${what}.${name}`);
  return [
    ...of('conversation', 'admin.closed', 'admin.opened', 'admin.snoozed', 'user.replied', 'deleted'),
    ...(ratings ? ['conversation.rating.added', 'ticket.rating.provided'] : []),
    ...(ticketCategories.length > 0 ? of('ticket', 'resolved', 'closed', 'state.updated') : []),
    ...of('contact', 'deleted', ...(eraseArchived ? ['archived'] : [])),
  ];
}

/** The step for an app's webhooks, for which Intercom has no API. */
const webhookStep = (settings: IntercomSettings, hookUrl: string): SetupStep =>
  manualStep(
    "list what to enter as the app's webhooks, which only its owner can",
    `1. Developer Hub > your app > Webhooks: the URL ${hookUrl}, and the topics ${topicsOf(settings).join(', ')}. No others: those of notes, tags and attributes tell of closeloop's own writes.`,
    `2. Set webhookUrl of this source to ${hookUrl}: it says that this is done.`,
  );
