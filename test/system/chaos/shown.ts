import { z } from 'zod';
import type { HubspotStandin } from '../../../standins/hubspot/standin.ts';
import type { ZendeskStandin } from '../../../standins/zendesk/standin.ts';
import type { Vendor } from './planned-record.ts';

/** Ids of ticket fields, names of properties. */
export const writeBack = {
  help: { grade: '360001', comment: '360002' },
  crm: { grade: 'feedback_grade', comment: 'feedback_comment' },
} as const;

export interface Value {
  grade: number | null;
  comment: string | null;
}

/** What the vendor shows of a record, for the auditor. */
export interface Shown extends Value {
  isClosed: boolean;
  /** What grade and comment were after each change of them, oldest first. */
  history: readonly (Value & { at: number })[];
  /** References of our notes, as often as they are there. */
  notes: string[];
  /** Grade tags on it. */
  gradeTags: string[];
  /** Mails that the customer got of it. */
  mails: number;
}

export interface Vendors {
  desk: ZendeskStandin;
  plain: ZendeskStandin;
  crm: HubspotStandin;
}

const Grade = z.coerce.number().nullable();
const Text = z.string().nullable();
const Ticket = z.object({ status: z.string() });
const Audit = z.object({
  id: z.number(),
  created_at: z.coerce.date(),
  events: z.array(
    z
      .object({
        type: z.string(),
        body: z.string().optional(),
        field_name: z.string().optional(),
        value: z.unknown().optional(),
      })
      .loose(),
  ),
});

/** What is on a record at the vendor now, and what was, read past the API. */
export function shown(vendors: Vendors, vendor: Vendor, id: number): Shown {
  return vendor === 'crm' ? shownInCrm(vendors.crm, id) : shownAtDesk(vendors[vendor], id);
}

function shownInCrm(crm: HubspotStandin, id: number): Shown {
  const { properties, history } = crm.ticket(id);
  const changes = [writeBack.crm.grade, writeBack.crm.comment].flatMap((name) =>
    (history[name] ?? []).map(({ at, value }) => ({
      at: Date.parse(at),
      write: at,
      name,
      value: value === '' ? null : value,
    })),
  );
  return {
    isClosed: properties.hs_pipeline_stage === '4',
    grade: gradeOf(properties[writeBack.crm.grade]),
    comment: properties[writeBack.crm.comment] ?? null,
    history: statesAfter(changes, writeBack.crm),
    notes: [],
    gradeTags: [],
    mails: 0,
  };
}

function shownAtDesk(desk: ZendeskStandin, id: number): Shown {
  const { ticket, tags, fields, audits, mails } = desk.ticket(id);
  const parsed = z.array(Audit).parse(audits);
  const changes = parsed.flatMap(({ id: write, created_at, events }) =>
    events.flatMap(({ type, field_name: name, value }) =>
      type === 'Change' && (name === writeBack.help.grade || name === writeBack.help.comment)
        ? [{ at: created_at.getTime(), write, name, value }]
        : [],
    ),
  );
  const bodies = parsed
    .flatMap(({ events }) => events)
    .flatMap(({ type, body }) => (type === 'Comment' && body !== undefined ? [body] : []));
  return {
    isClosed: Ticket.parse(ticket).status === 'solved',
    grade: gradeOf(fields[writeBack.help.grade]),
    comment: Text.parse(fields[writeBack.help.comment] ?? null),
    history: statesAfter(changes, writeBack.help),
    notes: bodies.flatMap((body) => /closeloop ref (\S+)\s*$/.exec(body)?.[1] ?? []),
    gradeTags: tags.filter((tag) => tag.startsWith('fb_grade_')),
    mails,
  };
}

const gradeOf = (value: unknown): number | null => Grade.parse(value ?? null);

function statesAfter(
  changes: readonly { at: number; write: number | string; name: string; value: unknown }[],
  names: { grade: string; comment: string },
): Shown['history'] {
  let state: Value = { grade: null, comment: null };
  const inOrder = changes.toSorted((a, b) => a.at - b.at);
  return [...Map.groupBy(inOrder, ({ write }) => write).values()].map((some) => {
    for (const { name, value } of some) {
      if (name === names.grade) state = { ...state, grade: gradeOf(value) };
      else state = { ...state, comment: Text.parse(value) };
    }
    return { at: some[0]?.at ?? 0, ...state };
  });
}
