import { contactKey } from '../../../core/contact.ts';
import type { RequestPage } from '../../../core/feedback/client.ts';
import { type FeedbackRequest, isMasked, isTo } from '../../../core/feedback/request-form.ts';
import type { Log } from '../../../core/ports.ts';
import type { Journey } from '../../journey/journey.ts';
import { refOf } from '../../journey/refs.ts';
import type { CollectPass } from '../../journey/requests.ts';
import type { JourneyStore } from '../../journey/store.ts';
import { isUnreadable } from '../../journey/stored-journey.ts';
import { askedContactOf, type Decision, mayFollow, step } from '../../journey/transitions.ts';
import type { AlertOfSource } from '../../operations/alerts.ts';
import type { Clock } from '../clock.ts';
import { type ActingContext, queueActs } from '../queue-acts.ts';
import type { Queues } from '../queues.ts';

/** After this time the journey knows the request that it created, also after an unknown outcome. */
const youngMs = 600_000;

/** A source whose grades are collected. */
export interface CollectedSource extends Pick<Queues, 'queueWriteBack'>, ActingContext {
  name: string;
  store: JourneyStore;
  clock: Clock;
  log: Log;
  /** Whether a person has stopped the collecting of this source's grades. */
  isCollectPaused(): Promise<boolean>;
}

/** A pass over a campaign's requests, with its findings so far. */
export interface Pass extends CollectPass {
  /** The time that all answers of this pass get, as the export may list a later answer before an earlier answer. */
  seenAt: Date;
  sources: readonly CollectedSource[];
  /** The sources whose collecting a person has paused. */
  paused: ReadonlySet<string>;
  /** The number of answers to paused sources, which were left at the service. */
  heldBack: number;
  /** The number of answers that have to be written back. */
  answers: number;
  /** Answered requests without a journey that are so new that their journey may not know them yet. */
  unmatched: number;
  unreadable: number;
  /** Journeys whose request, by its contact or campaign, is not theirs. */
  mismatches: Set<string>;
}

interface AnswersContext {
  clock: Clock;
  log: Log;
  alert: AlertOfSource;
}

/** Takes the answers from a page of the export, or from a part of a page. */
export async function takePage(
  { results, unreadable }: Pick<RequestPage, 'results' | 'unreadable'>,
  pass: Pass,
  context: AnswersContext,
): Promise<void> {
  await takeAnswers(results, pass, context);
  const [first] = unreadable;
  if (!first) return;
  pass.unreadable += unreadable.length;
  const { campaign } = pass;
  context.log.warn({ campaign, requests: unreadable.length, why: first.message }, 'requests could not be read');
}

async function takeAnswers(requests: readonly FeedbackRequest[], pass: Pass, context: AnswersContext): Promise<void> {
  const answered = requests.filter(({ grade, comment }) => grade !== null || (comment !== null && comment !== ''));
  const owned = new Set<string>();
  for (const source of pass.sources) {
    const ids = await source.store.requests.journeyIdsOf(answered.map(({ id }) => id));
    const journeys = await Promise.all(
      answered.map(async (request, i) => {
        const journeyId = ids[i];
        if (journeyId !== undefined) owned.add(request.id);
        if (journeyId !== undefined && pass.paused.has(source.name)) {
          pass.heldBack += 1;
          return undefined;
        }
        return journeyId === undefined ? undefined : await takeReadably(journeyId, request, pass, source);
      }),
    );
    // A known answer is queued as well: the process that stored it may have been killed before it queued the job.
    const due = journeys.flatMap((journey) => (journey?.state === 'answered' ? [journey.id] : []));
    await source.queueWriteBack(due);
    // For all other answers the write-back queues the actions.
    const tested = journeys.flatMap((journey) => (journey?.state === 'tested' ? [journey] : []));
    await Promise.all(tested.map((journey) => queueActs(journey, source)));
    pass.answers += due.length;
  }
  const youngFrom = context.clock.now().getTime() - youngMs;
  const isYoung = ({ id, scheduled }: FeedbackRequest) =>
    !owned.has(id) && scheduled !== null && scheduled.getTime() > youngFrom;
  pass.unmatched += answered.filter(isYoung).length;
}

/** Whether the request is this journey's: request ids are unique in one account of the service only. */
function isAnswerTo(journey: Journey, request: FeedbackRequest, pass: CollectPass): boolean {
  const contact = askedContactOf(journey);
  if (journey.campaign !== (request.campaign ?? pass.campaign)) return false;
  // A masked request does not show its contact: the campaign has to suffice.
  return isMasked(request) || (contact !== undefined && isTo(request, contactKey(contact)));
}

export async function reportMismatches({ campaign, mismatches }: Pass, { log, alert }: AnswersContext): Promise<void> {
  if (mismatches.size === 0) return;
  const journeys = [...mismatches];
  const why = `campaign ${campaign}: answers were left at the service, as their requests are to other contacts or of other campaigns than the journeys that hold their ids`;
  log.error({ campaign, answers: journeys.length, journeys: journeys.slice(0, 20) }, why);
  await alert(
    'to-do',
    why,
    'see that "feedback" names the account that the customers were asked in; the log names journeys',
    journeys,
  );
}

/** Takes an answer. Undefined for a journey that can't be read, which must not hold up the grades of the whole campaign. */
async function takeReadably(id: string, request: FeedbackRequest, pass: Pass, context: CollectedSource) {
  try {
    return await takeAnswer(id, request, pass, context);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    context.log.error({ journey: refOf(context.name, id) }, 'its grade can not be noted: this journey can not be read');
    return undefined;
  }
}

async function takeAnswer(
  id: string,
  request: FeedbackRequest,
  pass: Pass,
  context: CollectedSource,
): Promise<Journey | undefined> {
  const { grade } = request;
  const comment = request.comment === '' ? null : request.comment;
  const decide = (now: Journey): Decision => {
    // A test's answer stays in the journey.
    const to = now.test ? 'tested' : 'answered';
    if (!mayFollow(now.state, to)) return undefined;
    if (now.answer && now.answer.grade === grade && now.answer.comment === comment) return undefined;
    if (!isAnswerTo(now, request, pass)) {
      pass.mismatches.add(refOf(context.name, id));
      return undefined;
    }
    const version = (now.answer?.version ?? 0) + 1;
    const { seenAt } = pass;
    const what = version === 1 ? 'answered' : `answer changed (${version})`;
    context.log.info({ journey: refOf(context.name, id), version }, what);
    return {
      journey: step(now, to, context.clock.now(), { answer: { grade, comment, seenAt, version } }),
      trace: [
        `${now.test ? `TEST, written nowhere: ${what}` : what}: ${grade === null ? 'no grade' : `grade ${grade}`}${comment === null ? '' : ', with a comment'}`,
      ],
    };
  };
  return await context.store.update(id, decide, pass);
}
