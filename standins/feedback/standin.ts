import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { type StandinServer, serveStandin } from '../kit/server.ts';
import { createApi, prefix } from './api.ts';
import { createFeedbackControl } from './control.ts';
import { defaultForm, type OperationsForm } from './operations-form.ts';
import { plant } from './seed.ts';
import { FeedbackService, type ServiceOptions } from './service.ts';

export interface FeedbackStandinOptions extends ServiceOptions {
  /** Public base address ending in /api, for `next` and `previous`; left out: made of the Host header. */
  baseUrl?: string;
  /** Wire form of the five operations the specification doesn't show. */
  form?: OperationsForm;
  /** Start, and start again after `reset`, with the demo's account, keys and campaigns (seed.ts). Default false. */
  seed?: boolean;
}

/**
 * The stand-in of the Feedback Collection Service: its API under `/api`, its control surface under `/_control` (control.ts)
 * and, for a test in the same process, in its methods (service.ts). All of them take what definitions.ts describes and throw
 * a ControlError for what isn't there, a ZodError for what is malformed.
 */
export class FeedbackStandin extends FeedbackService {
  readonly #given: FeedbackStandinOptions;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  #api: (req: StandinRequest) => StandinResponse;

  constructor(options: FeedbackStandinOptions = {}) {
    super(options);
    this.#given = options;
    this.#control = createFeedbackControl(this);
    this.#api = this.#openApi();
    if (options.seed === true) this.seed();
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith(`${prefix}/`)) return this.#api(req);
    if (req.path.startsWith('/_control/')) return this.#control(req);
    return { status: 404, body: { detail: 'Not found.' } };
  };

  seed(): void {
    plant(this);
  }

  override reset(): void {
    super.reset();
    this.#api = this.#openApi();
    if (this.#given.seed === true) this.seed();
  }

  #openApi(): (req: StandinRequest) => StandinResponse {
    return createApi({
      store: this.store,
      form: this.#given.form ?? defaultForm,
      baseUrl: this.#given.baseUrl,
      now: () => this.instant(),
      count: (name) => this.counts.set(name, (this.counts.get(name) ?? 0) + 1),
    });
  }
}

/** The same over HTTP: the API's base address is `url` + `/api`. */
export function startFeedbackStandin(
  options: FeedbackStandinOptions & { port?: number } = {},
): Promise<StandinServer & { standin: FeedbackStandin }> {
  return serveStandin(new FeedbackStandin(options), options.port);
}
