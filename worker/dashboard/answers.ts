import type { FastifyInstance } from 'fastify';
export function showAnswers(_app: FastifyInstance, _options: unknown): void {}
