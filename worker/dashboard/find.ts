import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import { findAnywhere } from '../support/repair.ts';
import type { DashboardOptions } from './options.ts';

const Named = z.object({ source: z.string(), id: z.string() });

class NotFound extends CloseloopError {
  readonly statusCode = 404;

  constructor(cause: CloseloopError) {
    super(cause.message, cause.advice, { cause });
  }
}

/** Finds the journey that an address names by `:source` and `:id`. @throws CloseloopError for a journey that does not exist: "page not found" */
export async function journeyOf(request: FastifyRequest, { engine }: Pick<DashboardOptions, 'engine'>) {
  const { source, id } = Named.parse(request.params);
  return await findAnywhere(engine(), refOf(source, id)).catch((error: unknown) => {
    if (error instanceof CloseloopError && error.advice.kind === 'permanent') throw new NotFound(error);
    throw error;
  });
}
