/** One setting of a source that `closeloop init` asks for. */
export interface OnboardingQuestion {
  /** The path in the source's section: `subdomain`, `event.record`. The flag is made from it: `--event-record`. */
  setting: string;
  /** The question, which also says where to find the answer. */
  ask: string;
  /** For a secret: the environment variable that holds it. The input is not shown, and the secret is never in the configuration. */
  variable?: string;
  /** The default: '' leaves the setting out. Left out: an answer is required. */
  initial?: string;
  /** Whether the setting is a list with this one entry. */
  isList?: boolean;
  /** A secret that does not exist yet, and that `init` does not ask for: `init` generates one, until `setup` shows the vendor's own secret. */
  isMadeUp?: boolean;
  /** For a secret: what to do if nobody has it any more. Left out: the question says where to find it. */
  whenLost?: string;
}

/** The questions for the places of grade and comment. @param place a place in words: 'Ticket field' */
export const questionsOfPlaces = (place: string, grade: string, comment: string): OnboardingQuestion[] => [
  { setting: 'writeBack.grade', ask: `${place} that takes the grade`, initial: grade },
  { setting: 'writeBack.comment', ask: `${place} that takes the comment`, initial: comment },
];

/** The information from which `closeloop init` writes a source's section. */
export interface Onboarding {
  /** 'Zendesk Support: tickets that are solved' */
  about: string;
  /** The default name of the source. */
  source: string;
  questions: readonly OnboardingQuestion[];
  /** Settings without a question. */
  settings?: Readonly<Record<string, unknown>>;
  /** A rule's `contact`. */
  contact: readonly string[];
  /** Values of every record that are useful as custom fields, beside the account's own fields (`Source.fields`). */
  values: readonly FieldSuggestion[];
}

/** A value for a custom field of a campaign. */
export interface FieldSuggestion {
  /** The value in words: 'name of the agent'. */
  name: string;
  expression: string;
}
