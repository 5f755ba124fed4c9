/* The parts of undici that closeloop uses, a third of it: 27 files, which the package ships as one. exchange.ts loads them. */
import type { Dispatcher } from 'undici';
import apiRequest from 'undici/lib/api/api-request.js';
import agent from 'undici/lib/dispatcher/agent.js';
import { getGlobalDispatcher as globalDispatcher } from 'undici/lib/global.js';
import decoratorHandler from 'undici/lib/handler/decorator-handler.js';

// The exports have types that name only undici's index: undici has no types for the files imported here.
export const Agent: typeof import('undici')['Agent'] = agent;
/** `Dispatcher.request`, for any dispatcher. */
export const request: (
  this: Pick<Dispatcher, 'dispatch'>,
  options: Dispatcher.RequestOptions,
) => Promise<Dispatcher.ResponseData> = apiRequest;
export const DecoratorHandler: typeof import('undici')['DecoratorHandler'] = decoratorHandler;
export const getGlobalDispatcher: typeof import('undici')['getGlobalDispatcher'] = globalDispatcher;
