import type { CampaignType } from '../../core/contact.ts';
import type { FeedbackClient } from '../../core/feedback/client.ts';

/** What customers are asked through: their campaign's. `unknown`: the service does not name the campaign any more. */
export type Channel = CampaignType | 'unknown';

const words: Readonly<Record<Channel, string>> = {
  sms: 'text message',
  email: 'e-mail',
  mixed: 'text message or e-mail',
  widget: 'web widget',
  external: 'a channel of your own',
  unknown: 'an unknown channel',
};

/** For a sentence: "asked by e-mail". */
export const channelInWords = (channel: Channel): string => words[channel];

/** Each campaign's channel, by the campaign's number. */
export async function channelsAt(service: Pick<FeedbackClient, 'campaigns'>): Promise<Map<number, CampaignType>> {
  const channels = new Map<number, CampaignType>();
  for await (const { id, type } of service.campaigns()) channels.set(id, type);
  return channels;
}
