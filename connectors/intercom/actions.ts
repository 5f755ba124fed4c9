import { z } from 'zod';
import { VendorError } from '../../core/connector/classify.ts';
import type { ActionRequest } from '../../core/connector/contract.ts';
import { type DeskAction, doing, isReopened, noSuch, noteAction, tagAction } from '../../core/connector/desk/act.ts';
import { CloseloopError } from '../../core/errors.ts';
import type { People, Workspace } from './api.ts';
import { id, isOurs, type Reading, stateOf } from './conversation.ts';
import type { IntercomSettings } from './settings.ts';

const team = z.string().min(1).optional().describe('The name of the team that gets it');
const assignee = z.email().optional().describe('The address of the teammate who gets it');

const Reopen = z.strictObject({ team, assignee }).prefault({}).describe('Opens the conversation or ticket again');

const Assign = z
  .strictObject({ team, assignee })
  .refine((given) => given.team !== undefined || given.assignee !== undefined, 'names neither a team nor an assignee')
  .describe('Gives the conversation or ticket to a team, a teammate or both');
type Assign = z.output<typeof Reopen>;

export const actions = { reopen: Reopen, assign: Assign, tag: tagAction, note: noteAction };

/** Parks the action if Intercom lacks the team, teammate or tag that the action names. The source keeps running. */
function parked(error: unknown): never {
  if (!(error instanceof VendorError) || !/^(assignee|team|tag)_not_found$/.test(error.code)) throw error;
  throw new CloseloopError(`Intercom: the team, teammate or tag is gone (${error.code})`, { kind: 'permanent' });
}

/** Adds a part that changes a conversation. The part has no body, which would be a reply to the customer. */
const addPart = (workspace: Workspace, conversationId: string, body: object) =>
  workspace.send('POST', `/conversations/${conversationId}/parts`, body, z.unknown()).catch(parked);

function lookedUp({ admins, teams }: People, { team, assignee }: Assign) {
  const teamId = [...teams.values()].find(({ name }) => name === team)?.id;
  const adminId = [...admins.values()].find(({ email }) => email.toLowerCase() === assignee?.toLowerCase())?.id;
  const flaw =
    team !== undefined && teamId === undefined
      ? noSuch('team', team, 'Name a team as Intercom does (Settings > Teammates > Teams)')
      : assignee !== undefined && adminId === undefined
        ? noSuch('teammate', assignee, 'Give the address of a teammate of the workspace')
        : undefined;
  return { teamId, adminId, flaw };
}

async function open({ adminId: admin_id }: IntercomSettings, workspace: Workspace, { conversation, ticket }: Reading) {
  const { id } = conversation;
  if (ticket === undefined) return await addPart(workspace, id, { message_type: 'open', admin_id });
  // The ticket's state stays unchanged, because Intercom notifies the customer of it.
  return await workspace.send('PUT', `/tickets/${id}`, { open: true, admin_id: Number(admin_id) }, z.unknown());
}

/**
 * Whether the ticket is reopened already. An open ticket whose state is still "resolved" counts as closed, with the same closing: then
 * closeloop's own part shows that the ticket was opened.
 */
function isDone(reading: Reading, settings: IntercomSettings, request: ActionRequest): boolean {
  const state = stateOf(reading, settings);
  if (isReopened(state, request) || state.is !== 'closed') return true;
  const since = state.closedAt.getTime() / 1_000;
  const ours = (reading.ticket?.ticket_parts ?? []).filter((one) => isOurs(one, settings));
  return request.again && ours.some((one) => one.part_type === 'open' && (one.created_at ?? 0) >= since);
}

export function acting(settings: IntercomSettings, workspace: Workspace): Record<string, DeskAction<Reading>> {
  const { adminId: admin_id } = settings;
  const flaw = async (wanted: Assign) => lookedUp(await workspace.people('now'), wanted).flaw;

  async function assign({ conversation: { id } }: Reading, wanted: Assign): Promise<string> {
    const { teamId, adminId, flaw } = lookedUp(await workspace.people(), wanted);
    if (flaw !== undefined) throw new CloseloopError(`Intercom: ${flaw.problem}`, { kind: 'permanent' });
    const to = { message_type: 'assignment', admin_id };
    if (teamId !== undefined) await addPart(workspace, id, { ...to, type: 'team', assignee_id: teamId });
    if (adminId !== undefined) await addPart(workspace, id, { ...to, type: 'admin', assignee_id: adminId });
    return wanted.team === undefined ? 'assigned' : `assigned to the team ${wanted.team}`;
  }

  async function tag({ conversation, ticket }: Reading, names: readonly string[]): Promise<string> {
    const path = `/${ticket === undefined ? 'conversations' : 'tickets'}/${conversation.id}/tags`;
    const there = new Set<string>(conversation.tags);
    for (const name of names.filter((one) => !there.has(one))) {
      // Intercom returns the tag with this name, or creates it.
      const made = await workspace.send('POST', '/tags', { name }, z.object({ id }));
      await workspace.send('POST', path, { id: made.id, admin_id }, z.unknown()).catch(parked);
    }
    return `tagged ${names.join(', ')}`;
  }

  return {
    reopen: doing<Reading, typeof Reopen>(
      Reopen,
      async (reading, wanted, request) => {
        if (isDone(reading, settings, request)) return 'it was open already';
        // closeloop assigns before it opens: a process that is killed in between leaves the ticket closed, and the next attempt does both.
        if (wanted.team !== undefined || wanted.assignee !== undefined) await assign(reading, wanted);
        await open(settings, workspace, reading);
        return wanted.team === undefined ? 'reopened' : `reopened, in the team ${wanted.team}`;
      },
      flaw,
    ),
    assign: doing<Reading, typeof Assign>(Assign, assign, flaw),
    tag: doing<Reading, typeof tagAction>(tagAction, tag, async () => void (await workspace.get('/tags', z.unknown()))),
  };
}
