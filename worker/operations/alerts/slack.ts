import type { AnswerMessage, Message } from './message.ts';
import { introductionOf, type Section, sectionsOf, titleOf } from './words.ts';

/** A header has 150 characters at most, a section 3,000, a message 50 blocks and some 10,000 characters. */
const longestHeader = 150;
const longestSection = 3_000;

/**
 * The body for an incoming webhook. The text of an alert is plain text: there Slack reads no markup, no `<!channel>` and no emoji.
 * Source: docs.slack.dev, "Sending messages using incoming webhooks" and "Block Kit".
 */
export function slackBody(message: Message | AnswerMessage, page?: string): object {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  const introduction = introductionOf(message);
  const title = titleOf(message);
  return {
    // Notifications show this text, and no blocks. Slack reads markup in it.
    text: escaped(title),
    blocks: [
      { type: 'header', text: plain(title.slice(0, longestHeader)) },
      ...(introduction === undefined ? [] : [{ type: 'context', elements: [plain(introduction)] }]),
      ...sectionsOf(message, page).flatMap(({ heading, lines, links }) => [
        { type: 'divider' },
        { type: 'section', text: plain([heading, ...lines].join('\n').slice(0, longestSection)) },
        ...(links.length === 0 ? [] : [{ type: 'context', elements: links.map(linked) }]),
      ]),
    ],
  };
}

/** Only markup makes a link. */
function linked({ label, url }: Section['links'][number]): object {
  return { type: 'mrkdwn', text: `<${escaped(url)}|${label}>`, verbatim: true };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
