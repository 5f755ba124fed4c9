import type { FastifyInstance, FastifyReply } from 'fastify';
import { visitorOf } from './guard.ts';
import { textOf } from './html.ts';
import { type FollowUpCounts, layout, type Page } from './layout.ts';

const common = Symbol('common');

/** The parts that every page has. */
interface Common {
  /** Shown above everything else, if set. */
  notice: string | undefined;
  /** The numbers of follow-ups for the menu. */
  followUps: () => Promise<FollowUpCounts>;
}

export function decoratePages(app: FastifyInstance, parts: Common): void {
  app.decorate(common, parts);
}

/** Sends a whole page. */
export async function show(reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> {
  const { notice, followUps } = reply.server.getDecorator<Common>(common);
  const visitor = visitorOf(reply.request);
  // After an error the counts are left out, as Redis itself may be the cause.
  const counts = visitor && status < 500 ? await followUps() : undefined;
  return await reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(textOf(layout({ ...page, notice, followUps: counts }, visitor)));
}
