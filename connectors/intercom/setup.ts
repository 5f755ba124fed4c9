import { combined, manualStep, setupSteps } from '../../core/connector/check.ts';
import type { SetupStep, Source } from '../../core/connector/contract.ts';
import type { Workspace } from './api.ts';
import { attributeComparer } from './attributes.ts';
import type { IntercomSettings } from './settings.ts';

/** Creates the attributes, and lists the webhooks for a person to enter. */
export function installer(settings: IntercomSettings, workspace: Workspace): NonNullable<Source['setup']> {
  const compare = attributeComparer(settings, workspace);
  return async ({ grades, hookUrl }) => {
    const steps = await setupSteps(async () => combined(await compare({ grades })).missing);
    const isDone = hookUrl === undefined || settings.webhookUrl !== undefined;
    return isDone ? steps : [...steps, webhookStep(settings, hookUrl)];
  };
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

/** Intercom has no API for an app's webhooks. */
const webhookStep = (settings: IntercomSettings, hookUrl: string): SetupStep =>
  manualStep(
    "list what to enter as the app's webhooks, which only its owner can",
    `1. Developer Hub > your app > Webhooks: the URL ${hookUrl}, and the topics ${topicsOf(settings).join(', ')}. No others: those of notes, tags and attributes tell of closeloop's own writes.`,
    `2. Set webhookUrl of this source to ${hookUrl}: it says that this is done.`,
  );
