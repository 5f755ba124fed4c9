import { z } from 'zod';
import type { personalParts } from '../../config/webhooks.ts';
import { type Journey, journeyStates } from '../../journey/journey.ts';
import type { OutgoingEvent } from '../../journey/outgoing.ts';
import { refOf } from '../../journey/refs.ts';
import { recordPlaceOf } from './event.ts';
import type { SendSource } from './send.ts';

/* The payload of a webhook: docs/webhooks-out.md, and as JSON Schema docs/reference/webhook-events.schema.json. */

/** The version of the payload. It rises with a change that breaks receivers; an additional member does not. */
export const payloadVersion = 1;

const Instant = z.iso.datetime();

const Contact = z
  .strictObject({ kind: z.enum(['phone', 'email', 'identifier']), value: z.string() })
  .meta({ id: 'contact', description: 'Who was asked. Only with `include: [contact]`' });

const Answer = z
  .strictObject({
    grade: z.number().nullable(),
    maxGrade: z.number().nullable().describe('The highest grade of the campaign, where known'),
    version: z.int().describe('Counts the versions of the answer, from 1: the highest is the newest'),
    at: Instant.describe('When this version was collected'),
    comment: z.string().nullable().optional().describe("The customer's words. Only with `include: [comment]`"),
    answers: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Answers to a survey, by the id of the question. Only with `include: [comment]`'),
  })
  .meta({ id: 'answer' });

const FollowUp = z
  .strictObject({
    state: z.enum(['open', 'taken', 'done']),
    rule: z.string().describe('The answer rule that opened it'),
    to: z.string().describe('Whose it is: `agent` for the agent of the record, or a name'),
    openedAt: Instant,
    dueAt: Instant,
  })
  .meta({ id: 'followUp' });

const common = {
  source: z.string().describe('The name of the source in the configuration'),
  journey: z.string().describe('As `closeloop journeys show` takes it'),
  state: z.enum(journeyStates).describe('Of the journey, when this was sent'),
  record: z.strictObject({
    id: z.string().describe("The vendor's id"),
    url: z.string().optional().describe('Where people see it'),
  }),
  closedAt: Instant.describe('When the record was closed'),
  rule: z.string().optional().describe('The rule that chose the campaign'),
  campaign: z.strictObject({ id: z.int(), name: z.string().optional() }).optional(),
  request: z.strictObject({ id: z.string(), at: Instant.optional() }).optional().describe('The feedback request'),
  contact: Contact.optional(),
  fields: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Custom field values of the request. Only with `include: [fields]`'),
};

const eventOf = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  z.strictObject({
    type: z.literal(type),
    version: z.literal(payloadVersion),
    timestamp: Instant.describe('When it happened'),
    data: z.strictObject({ ...common, ...data }),
  });

const answered = { answer: Answer };

export const Payload = z.discriminatedUnion('type', [
  eventOf('answer.received', answered),
  eventOf('answer.changed', answered),
  eventOf('answer.matched', { ...answered, answerRule: z.string().describe('The answer rule that sends it') }),
  eventOf('request.created', {}),
  eventOf('closing.skipped', {
    reason: z.string().nullable().describe('For machines: docs/reference/reasons.md'),
    why: z.string(),
  }),
  eventOf('follow-up.overdue', { ...answered, answer: Answer.optional(), followUp: FollowUp }),
]);
export type Payload = z.output<typeof Payload>;

interface PayloadContext {
  include: readonly (typeof personalParts)[number][];
  of: SendSource;
}

/** Builds the payload from the journey's present state; undefined where there is nothing left to send. */
export async function payloadOf(
  event: OutgoingEvent,
  journey: Journey,
  { include, of }: PayloadContext,
): Promise<Payload | undefined> {
  const data = { ...commonOf(journey, include, of.name), ...(await placeOf(journey, include, of)) };
  const about = { version: payloadVersion, timestamp: event.at.toISOString() } as const;
  const answer = answerOf(journey, include);
  switch (event.type) {
    case 'answer.received':
    case 'answer.changed':
      return answer && { type: event.type, ...about, data: { ...data, answer } };
    case 'answer.matched':
      return answer && { type: event.type, ...about, data: { ...data, answer, answerRule: event.rule } };
    case 'request.created':
      return { type: event.type, ...about, data };
    case 'closing.skipped': {
      const { reason = null, why = '' } = journey;
      return { type: event.type, ...about, data: { ...data, reason, why } };
    }
    case 'follow-up.overdue': {
      const followUp = followUpOf(journey);
      return followUp && { type: event.type, ...about, data: { ...data, ...(answer && { answer }), followUp } };
    }
  }
}

async function placeOf(journey: Journey, include: PayloadContext['include'], of: SendSource) {
  const { record: id, url } = await recordPlaceOf(journey, of, { mayBePersonal: include.includes('contact') });
  return { record: { id, ...(url !== undefined && { url }) } };
}

function commonOf(journey: Journey, include: PayloadContext['include'], source: string) {
  const { id, state, closedAt, rule, campaign, campaignName, requestId, askedAt, contact, values } = journey;
  return {
    ...{ source, journey: refOf(source, id), state, closedAt: closedAt.toISOString() },
    ...(rule !== undefined && { rule }),
    ...(campaign !== undefined && {
      campaign: { id: campaign, ...(campaignName !== undefined && { name: campaignName }) },
    }),
    ...(requestId !== undefined && { request: { id: requestId, ...(askedAt && { at: askedAt.toISOString() }) } }),
    ...(contact && include.includes('contact') && { contact: { kind: contact.kind, value: contact.value } }),
    ...(values && include.includes('fields') && { fields: values }),
  };
}

function answerOf(
  { answer, maxGrade, survey }: Journey,
  include: PayloadContext['include'],
): z.output<typeof Answer> | undefined {
  if (answer === undefined) return undefined;
  const { grade, version, comment, seenAt } = answer;
  const words = include.includes('comment') && { comment, ...(survey && { answers: survey.answers }) };
  return { grade, maxGrade: maxGrade ?? null, version, at: seenAt.toISOString(), ...words };
}

function followUpOf({ followUp }: Journey) {
  if (followUp === undefined) return undefined;
  const { state, rule, to, openedAt, dueAt } = followUp;
  return { state, rule, to, openedAt: openedAt.toISOString(), dueAt: dueAt.toISOString() };
}
