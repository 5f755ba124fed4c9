import type { FastifyReply } from 'fastify';
import { visitorOf } from './access.ts';
import { textOf } from './html.ts';
import { layout, type Page } from './layout.ts';

/** Sends a whole page. */
export async function show(reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> {
  return await reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(textOf(layout(page, visitorOf(reply.request))));
}
