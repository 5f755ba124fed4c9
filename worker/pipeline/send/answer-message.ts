import { personOf } from '../../journey/follow-up.ts';
import type { Journey } from '../../journey/journey.ts';
import { gradeInWords } from '../../journey/outcomes.ts';
import type { OutgoingEvent } from '../../journey/outgoing.ts';
import { refOf } from '../../journey/refs.ts';
import type { AnswerMessage } from '../../operations/alerts/message.ts';
import { namesOf } from '../record-names.ts';
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
      followUp && followUp.state !== 'done'
        ? { to: personOf(followUp), dueAt: followUp.dueAt.toISOString() }
        : undefined,
    timeZone,
  };
}
