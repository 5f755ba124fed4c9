import type { AnswerValue } from '../../core/connector/events.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';
import { FeedbackError } from '../../core/feedback/failure.ts';
import type { Question } from '../../core/feedback/schemas.ts';
import { lookUp } from '../../core/look-up.ts';
import type { Journey } from '../journey/journey.ts';
import { questionsOf } from '../preflight/survey-questions.ts';

/** A customer's answer to one question of a survey. */
export interface SurveyAnswer {
  id: string;
  /** Undefined: the service doesn't have it, or could not be asked. */
  question: string | undefined;
  answer: string;
}

type Questions = Awaited<ReturnType<typeof questionsOf>>['known'];
type Surveys = Pick<FeedbackClient, 'surveys' | 'survey'>;

const keepMs = 300_000;
/** After the service refused or did not answer, it is asked again after this time at the earliest. */
const afterFailureMs = 30_000;

/** Answers to surveys with their questions' texts, which are read at the service, and kept for five minutes. */
export class SurveyAnswers {
  readonly #now: () => Date;
  #cached: { until: number; questions: Promise<Questions> } | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  async answersOf({ survey }: Pick<Journey, 'survey'>, feedback: Surveys): Promise<SurveyAnswer[]> {
    return survey === undefined ? [] : inWords(survey.answers, await this.#questions(feedback));
  }

  #questions(feedback: Surveys): Promise<Questions> {
    const now = this.#now().getTime();
    if (this.#cached && now < this.#cached.until) return this.#cached.questions;
    const read = questionsOf(feedback).then(({ known }) => known);
    const questions = read.catch((error: unknown) => {
      // The answers are worth showing without the texts.
      if (!(error instanceof FeedbackError)) throw error;
      this.#cached = { until: now + afterFailureMs, questions: Promise.resolve(new Map()) };
      return new Map();
    });
    this.#cached = { until: now + keepMs, questions };
    return questions;
  }
}

/** In the order in which customers see the questions; those that the service doesn't have come last. Pure. */
export function inWords(answers: Readonly<Record<string, AnswerValue>>, questions: Questions): SurveyAnswer[] {
  const known = [...questions].flatMap(([id, { question }]) => {
    const value = lookUp(answers, id);
    return value === undefined ? [] : [{ id, question: question.question, answer: answerTo(value, question) }];
  });
  const others = Object.entries(answers).flatMap(([id, value]) =>
    questions.has(id) ? [] : [{ id, question: undefined, answer: answerTo(value) }],
  );
  return [...known, ...others];
}

function answerTo(value: AnswerValue, question?: Question): string {
  if (typeof value === 'boolean' && question?.answer_type === 'bool') {
    const label = value ? question.config.true_label : question.config.false_label;
    if (typeof label === 'string' && label !== '') return label;
  }
  return typeof value === 'object' ? value.join(', ') : String(value);
}
