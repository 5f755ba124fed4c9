import type { AnswerMessage, Message } from './message.ts';
import { introductionOf, sectionsOf, titleOf } from './words.ts';

/**
 * The body for a workflow ("Post to a channel when a webhook request is received"), which takes a message with one Adaptive Card of
 * 28 KB at most. Text runs hold text as it is; text blocks would read Markdown in it.
 * Source: learn.microsoft.com, "Create incoming webhooks with Workflows"; adaptivecards.io, version 1.4.
 */
export function teamsBody(message: Message | AnswerMessage, page?: string): object {
  const run = (text: string, style: object = {}) => ({ type: 'TextRun', text, ...style });
  const block = (inlines: object[], style: object = {}) => ({ type: 'RichTextBlock', inlines, ...style });
  const introduction = introductionOf(message);
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            block([run(titleOf(message), { size: 'Large', weight: 'Bolder' })]),
            ...(introduction === undefined ? [] : [block([run(introduction, { isSubtle: true })])]),
            ...sectionsOf(message, page).flatMap(({ heading, lines, links }) => [
              block([run(heading, { weight: 'Bolder' })], { separator: true, spacing: 'Medium' }),
              ...lines.map((line) => block([run(line)], { spacing: 'Small' })),
              ...links.map(({ label, url }) => block([run(label, { selectAction: { type: 'Action.OpenUrl', url } })])),
            ]),
          ],
        },
      },
    ],
  };
}
