/* undici's types cover only its index; these files get the same types. */
declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';
  export default function request(
    this: Pick<Dispatcher, 'dispatch'>,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>;
}
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
declare module 'undici/lib/global.js' {
  export { getGlobalDispatcher } from 'undici';
}
declare module 'undici/lib/handler/decorator-handler.js' {
  export { DecoratorHandler as default } from 'undici';
}
