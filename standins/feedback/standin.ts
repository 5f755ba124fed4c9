import { type Command, command, createControlSurface, nothing } from '../kit/control.ts';
import { type Guide, sampleEmail } from '../kit/guide.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import { starterOf } from '../kit/server.ts';
import { createApi, prefix } from './api.ts';
import * as define from './definitions.ts';
import { defaultForm, type OperationsForm } from './operations-form.ts';
import { plant } from './seed.ts';
import { FeedbackService, type ServiceOptions } from './service.ts';

export const guide: Guide = {
  about:
    'The Feedback Collection Service. Campaign 12 asks by e-mail and SMS, at once and at any hour; there are others.',
  configuration: (url) => `feedback:
  baseUrl: ${url}/api
  apiKey: demo-key
  timeZone: Europe/Tallinn
collect: { every: 5s }              # so that a grade comes back at once`,
  steps: [
    { what: 'all requests', method: 'GET', path: 'requests' },
    {
      what: 'the customer answers the newest request',
      method: 'POST',
      path: 'answers',
      body: { contact: sampleEmail, grade: 5, comment: 'Quick, thanks' },
    },
  ],
};

export interface FeedbackStandinOptions extends ServiceOptions {
  /** Public base address ending in /api, for `next` and `previous`; left out: made of the Host header. */
  baseUrl?: string;
  /** Wire form of the five operations the specification doesn't show. */
  form?: OperationsForm;
  /** Whether the stand-in starts with the demo's account, keys and campaigns (seed.ts). Default false. */
  seed?: boolean;
}

/**
 * The stand-in of the Feedback Collection Service: its API under `/api`, its control surface under `/_control`
 * and, for a test in the same process, in its methods (service.ts). All of them take what definitions.ts describes and throw
 * a ControlError for what isn't there, a ZodError for what is malformed.
 */
export class FeedbackStandin extends FeedbackService {
  readonly #given: FeedbackStandinOptions;
  readonly #control: (req: StandinRequest) => Promise<StandinResponse>;
  readonly #api: (req: StandinRequest) => StandinResponse;

  constructor(options: FeedbackStandinOptions = {}) {
    super(options);
    this.#given = options;
    this.#control = createControlSurface(this.#commands());
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

  #commands(): Command[] {
    return [
      command('POST', 'accounts', define.accountDefinition, (input) => this.addAccount(input)),
      command('POST', 'keys', define.keyDefinition, (input) => this.addKey(input)),
      command('PATCH', 'keys', define.keyChange, (input) => this.changeKey(input)),
      command('DELETE', 'keys', define.keyName, (input) => this.deleteKey(input)),
      command('POST', 'campaigns', define.campaignDefinition, (input) => this.addCampaign(input)),
      command('PATCH', 'campaigns', define.campaignChange, (input) => this.changeCampaign(input)),
      command('POST', 'surveys', define.surveyDefinition, (input) => this.addSurvey(input)),
      command('POST', 'answers', define.customerAnswer, (input) => this.answer(input)),
      command('POST', 'blacklist', define.blacklistEntry, (input) => this.blacklist(input)),
      command('POST', 'graylist', define.graylistEntry, (input) => this.graylist(input)),
      command('POST', 'access-log', define.accessEntry, (input) => this.addAccess(input)),
      command('GET', 'requests', define.requestFilter, (input) => this.requests(input)),
      command('POST', 'long-ids', define.longIds, (input) => this.giveLongIds(input)),
      command('POST', 'past', define.pastRequest, (input) => this.addPast(input)),
      command('POST', 'fill', define.fillOrder, (input) => this.fill(input)),
      command('GET', 'clock', nothing, () => ({ now: this.now() })),
      command('POST', 'clock', define.clockChange, (input) => ({ now: this.moveClock(input) })),
      command('GET', 'calls', nothing, () => this.calls()),
      command('DELETE', 'calls', nothing, () => this.clearCalls()),
    ];
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
export const startFeedbackStandin = starterOf(FeedbackStandin);
