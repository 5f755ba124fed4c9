import { z } from 'zod';
import type { Actions, Connector as AnyConnector } from '../../core/connector/contract.ts';
import { ExpressionSource } from '../../core/mapping/expression-compile.ts';
import { Duration, Settle } from '../../core/schedule/duration-setting.ts';
import { suggestion } from '../../core/suggestion.ts';
import { inOurWords } from './issues.ts';
import { distinctNames } from './values.ts';

type Connector = Pick<AnyConnector, 'name' | 'actions'>;

export const FollowUpParams = z
  .strictObject({
    to: z.string().min(1).default('agent').describe('Whose it is: `agent` for the agent of the record, or a name'),
    due: Duration.prefault('1d').describe('From the answer to when it has to be done'),
  })
  .prefault({})
  .describe('Opens a follow-up: somebody has to see to this customer');

/** The names of the configuration's receivers and webhooks: an answer rule may name no others. Left out: any name is accepted. */
export interface KnownReceivers {
  notify: readonly string[];
  send: readonly string[];
}

/** One name of a receiver, or a list of names. */
const NamesOf = (known: readonly string[] | undefined, where: string) => {
  const Name = z
    .string()
    .min(1)
    .refine((name) => known?.includes(name) ?? true, { error: ({ input }) => unknownName(input, known ?? [], where) });
  return z.union([Name.transform((name) => [name]), z.array(Name).min(1)]);
};

function unknownName(name: unknown, known: readonly string[], where: string): string {
  if (known.length === 0) return `names a receiver, and ${where} names none`;
  return `is no receiver of ${where}: there are ${known.join(', ')}${suggestion(String(name), known)}`;
}

/** The receivers that `notify` and `send` name. */
export const ReceiverNames = NamesOf(undefined, '');

/** The actions that closeloop does itself, without the vendor. */
const ownActions = (known?: KnownReceivers) =>
  ({
    followUp: FollowUpParams,
    notify: NamesOf(known?.notify, 'alerts').describe('Tells receivers of `alerts` of the answer, with its words'),
    send: NamesOf(known?.send, 'webhooks').describe('Sends the answer to these `webhooks`'),
  }) satisfies Actions;

/** One action with its settings as written. The code that does the action reads the settings by the action's schema. */
interface Doing {
  name: string;
  params: unknown;
}

/** Every action that answer rules of this connector may name. */
export function actionsOf({ actions }: Pick<Connector, 'actions'>, known?: KnownReceivers): Actions {
  const { note } = actions;
  // The text of a note is an expression, so a mistake in it is a mistake of the configuration.
  return {
    ...actions,
    ...(note && { note: ExpressionSource.meta({ description: note.description }) }),
    ...ownActions(known),
  };
}

/** One entry of `do`: the name of an action, and its settings. */
function doingOf(connector: Connector, receivers?: KnownReceivers) {
  const known = actionsOf(connector, receivers);
  return z.record(z.string(), z.unknown()).transform((written, context): Doing => {
    const [[name, value] = ['', undefined], ...others] = Object.entries(written);
    const schema = Object.hasOwn(known, name) ? known[name] : undefined;
    const refuse = (message: string, path: PropertyKey[] = []) => {
      context.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    };
    if (name === '' || others.length > 0)
      return refuse('is one action, like { tag: [unhappy] }: write each as its own entry');
    if (schema === undefined)
      return refuse(`is nothing that ${connector.name} can do: there are ${Object.keys(known).join(', ')}`, [name]);
    const parsed = schema.safeParse(value, { error: inOurWords });
    if (parsed.success) return { name, params: value };
    for (const issue of parsed.error.issues)
      context.issues.push({ ...issue, path: [name, ...issue.path], input: undefined });
    return z.NEVER;
  });
}

/** An answer rule of a source of this connector: the condition on the answer, and the actions. */
export function answerRuleOf(connector: Connector, receivers?: KnownReceivers) {
  return z.strictObject({
    name: z.string().min(1).max(60).describe('What logs, traces and follow-ups call it'),
    when: ExpressionSource.optional().describe(
      'JSONata over `answer` (grade, maxGrade, comment, campaign, answers, changed) and the record as rules see it. Left out: every answer',
    ),
    settle: Settle.prefault('5m').describe('The answer has stayed as it is for so long; 0: at once'),
    do: z.array(doingOf(connector, receivers)).min(1).describe('What is done, in this order'),
  });
}
export type AnswerRule = z.output<ReturnType<typeof answerRuleOf>>;

/** The answer rules of a source of this connector. */
export const answerRulesOf = (connector: Connector, receivers?: KnownReceivers) =>
  z.array(answerRuleOf(connector, receivers)).superRefine(distinctNames('answer rule'));
