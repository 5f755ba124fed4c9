import { z } from 'zod';
import type { RecordParts } from '../../../core/connector/record-parts.ts';
import type { Journey } from '../../journey/journey.ts';
import { gradeInWords } from '../../journey/outcomes.ts';
import type { OutgoingEvent } from '../../journey/outgoing.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { AnswerMessage } from '../../operations/alerts/message.ts';
import { recordPlaceOf } from './event.ts';
import type { SendSource } from './send.ts';

/** The message to a person about an answer; undefined where the answer is gone. */
export async function answerMessageOf(
  event: OutgoingEvent,
  journey: Journey,
  { id, of, timeZone }: { id: string; of: SendSource; timeZone: string },
): Promise<AnswerMessage | undefined> {
  const { answer, followUp } = journey;
  if (answer === undefined) return undefined;
  const [{ customer, agent }, { record, url }] = await Promise.all([
    namesOf(journey, of),
    recordPlaceOf(journey, of, { mayBePersonal: true }),
  ]);
  return {
    ...{ type: 'answer', id, at: event.at.toISOString(), source: of.name, journey: refOf(of.name, journey.id) },
    ...{ rule: event.rule, grade: gradeInWords(journey), comment: answer.comment },
    isChanged: answer.version !== event.version,
    ...{ customer, agent, record, url },
    followUp:
      followUp && followUp.state !== 'done' ? { to: followUp.to, dueAt: followUp.dueAt.toISOString() } : undefined,
    timeZone,
  };
}

/** The names on the record are optional: the message goes out even where the vendor does not answer. */
async function namesOf(journey: Journey, of: SendSource): Promise<ReturnType<typeof namesIn>> {
  const nobody = { customer: undefined, agent: undefined };
  try {
    const { record } = await of.read(currentRecordOf(journey), 'act', journey.closedAt);
    return record ? namesIn(record.shape, of.parts) : nobody;
  } catch {
    return nobody;
  }
}

/** A person as connectors present one. */
const Person = z.object({
  name: z.string().nullish(),
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  displayName: z.string().nullish(),
});

/**
 * What the record calls its customer and its agent, where the connector's data sheet says where they are. A customer is whoever has one of the
 * customer's addresses, or is presented as `customer`.
 */
export function namesIn(shape: object, { agents = [], customer = [] }: RecordParts) {
  const people = [...customer.map((path) => path.split('.').slice(0, -1)), ['customer']];
  return {
    customer: firstOf(people.map((path) => nameOf(at(shape, path)))),
    agent: firstOf(agents.map((path) => textOf(at(shape, path.split('.'))))),
  };
}

function nameOf(person: unknown): string | undefined {
  const { name, displayName, firstName, lastName } = Person.safeParse(person).data ?? {};
  return textOf(name) ?? textOf(displayName) ?? textOf([firstName, lastName].filter(Boolean).join(' '));
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

const firstOf = (found: readonly (string | undefined)[]): string | undefined => found.find((one) => one !== undefined);

function at(shape: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
    shape,
  );
}
