import { errorAt, warningAt } from '../../core/connector/check.ts';
import type { Finding, Source } from '../../core/connector/contract.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import type { Question } from '../../core/feedback/schemas.ts';

/** How many questions a remedy names. */
const mostQuestions = 10;

interface KnownQuestions {
  /** The questions by id as events write the id, survey by survey in the customer's order. */
  known: Map<string, { question: Question; isAsked: boolean }>;
  /** Ids of questions in an unexpected shape. */
  unreadable: Set<string>;
}

/** Every question of the account's surveys. */
export async function questionsOf(feedback: Pick<FeedbackClient, 'surveys' | 'survey'>): Promise<KnownQuestions> {
  const known: KnownQuestions['known'] = new Map();
  const unreadable: KnownQuestions['unreadable'] = new Set();
  for await (const { id, is_active } of feedback.surveys()) {
    const survey = await feedback.survey(id);
    for (const question of survey.questions) {
      known.set(String(question.id), { question, isAsked: is_active && question.is_active });
    }
    for (const { id } of survey.unreadable) unreadable.add(String(id));
  }
  return { known, unreadable };
}

/** Survey events name questions by id. No answer ever comes to a question that the service doesn't have. */
export async function surveyFindings({
  source,
  feedback,
}: {
  source: Pick<Source, 'surveyQuestions'>;
  feedback: Pick<FeedbackClient, 'surveys' | 'survey'>;
}): Promise<Finding[]> {
  const wanted = new Set(source.surveyQuestions);
  if (wanted.size === 0) return [];
  const { known, unreadable } = await questionsOf(feedback);
  const there = [...known].flatMap(([id, { question, isAsked }]) => (isAsked ? [`${id} "${question.question}"`] : []));
  const some = `${there.slice(0, mostQuestions).join(', ')}${there.length > mostQuestions ? ' …' : ''}`;
  return [...wanted].flatMap((id): Finding[] => {
    const found = known.get(id);
    if (found?.isAsked) return [];
    const at = `writeBack.answers.${id}`;
    if (found) {
      const problem = `question ${id} ("${found.question.question}"), or its survey, is not active in the service: nobody answers it`;
      return [warningAt(at, problem, 'activate it in the service, or take it out')];
    }
    if (unreadable.has(id)) {
      const problem = `question ${id} is of another shape than specified: its text and kind are not known here`;
      return [warningAt(at, problem, 'see "closeloop surveys show"; its answers are taken all the same')];
    }
    const remedy =
      there.length > 0 ? `name one of ${some}` : 'the service has no active survey: make one, or take it out';
    return [errorAt(at, `no survey of the service has a question ${id}`, remedy)];
  });
}
