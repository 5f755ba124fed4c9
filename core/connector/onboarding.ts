/** One setting of a source that `closeloop init` asks for. */
export interface OnboardingQuestion {
  /** Where it stands in the source's section: `subdomain`, `event.record`. Its flag is made of it: `--event-record`. */
  setting: string;
  /** What people are asked, with where they find the answer. */
  ask: string;
  /** A secret: the environment variable that holds it. It is asked without being shown, and is never in the configuration. */
  variable?: string;
  /** Taken where nothing is said: '' leaves the setting out. Left out: there has to be an answer. */
  initial?: string;
  /** The setting is a list of one. */
  isList?: boolean;
  /** A secret that nobody has yet, and nobody is asked for: made up, until `setup` tells the vendor's own. */
  isMadeUp?: boolean;
  /** Of a secret: what to do where nobody has it any more. Left out: it is where the question says. */
  whenLost?: string;
}

/** What `closeloop init` has to know to write a source's section. */
export interface Onboarding {
  /** 'Zendesk Support: tickets that are solved' */
  about: string;
  /** What the source is called if nobody says otherwise. */
  source: string;
  questions: readonly OnboardingQuestion[];
  /** Settings that nobody is asked for. */
  settings?: Readonly<Record<string, unknown>>;
  /** A rule's `contact`. */
  contact: readonly string[];
  /** What every record has that is worth a custom field: beside the fields that the account has (`Source.fields`). */
  values: readonly FieldSuggestion[];
}

/** Something that a custom field of a campaign can be filled with. */
export interface FieldSuggestion {
  /** In words: 'name of the agent'. */
  name: string;
  expression: string;
}
