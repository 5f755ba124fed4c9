/** Parts of a record that ready-made conditions (`never`) and searches ask for. */
export const recordParts = [
  'tags',
  'brands',
  'groups',
  'pipelines',
  'channels',
  /** Who handled it, on the company's side. */
  'agents',
  /** When it was opened, ISO 8601: handling time is from then to the closing. */
  'openedAt',
  /** How often agents replied: 0 is none, nothing is not known. */
  'replies',
  /** Every address of the customer: e-mail addresses, phone numbers. A person's journeys are found by each of them. */
  'customer',
] as const;
export type RecordPart = (typeof recordParts)[number];

/**
 * Where the records of a connector hold them: paths over `shape`, like `ticket.group.name`. All values of all paths count, so that
 * a thing can be meant by its name and by its id. Left out: the connector can't answer.
 */
export type RecordParts = Readonly<Partial<Record<RecordPart, readonly string[]>>>;
