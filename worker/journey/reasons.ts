/**
 * Why a journey was skipped, as a short code that never changes its meaning: for machines, and for counting. The sentence beside it
 * (`why`) is for people, and may change.
 */
export const skipReasons = [
  /** The vendor's record never asks: merged, deleted, spam, an agent's own … */
  'out',
  /** The record was open again when it was read. */
  'reopened',
  /** Excluded over all rules (`never`). */
  'never',
  /** No rule's condition is true. */
  'no-rule',
  /** The rule has no campaign for the customer's language. */
  'language',
  /** A condition could not be evaluated. */
  'condition-failed',
  /** Closed too long ago, or asked too late (`maxAge`). */
  'too-old',
  /** This record's customer was asked already. */
  'asked-already',
  /** Outside the rule's sample. */
  'sample',
  /** The campaign's custom fields can't be filled. */
  'fields',
  /** The record has no contact that the campaign reaches. */
  'no-contact',
  /** The windows never meet in the recipient's zone. */
  'no-time',
  /** On the service's blacklist or graylist. */
  'listed',
  /** Asked too recently. */
  'throttled',
  /** A later closing of the person was asked about (`prefer: latest`). */
  'superseded',
  /** The person was erased after the record was closed. */
  'erased',
  /** The caps are reached for as long as a closing may wait. */
  'capped',
] as const;
export type SkipReason = (typeof skipReasons)[number];

/** A reason not to ask: the code, and the sentence for the trace. */
export interface Skip {
  reason: SkipReason;
  why: string;
}
