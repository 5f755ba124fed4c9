import { gradeInWords } from '../../journey/grade-in-words.ts';
import type { Journey } from '../../journey/journey.ts';
import type { OutgoingEvent } from '../../journey/outgoing.ts';
import { currentRecordOf, refOf } from '../../journey/refs.ts';
import type { AnswerMessage } from '../../operations/alerts/message.ts';
import { recordPlaceOf } from './event.ts';
import { namesIn } from './record-names.ts';
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
