import type { FastifyInstance, FastifyReply } from 'fastify';
import { visitorOf } from './guard.ts';
import { textOf } from './html.ts';
import { layout, type Page } from './layout.ts';

const notice = Symbol('notice');

/** What stands above every page, if anything. */
export function noteOnPages(app: FastifyInstance, text: string | undefined): void {
  app.decorate(notice, text);
}

/** Sends a whole page. */
export async function show(reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> {
  return await reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(
      textOf(
        layout({ ...page, notice: reply.server.getDecorator<string | undefined>(notice) }, visitorOf(reply.request)),
      ),
    );
}
