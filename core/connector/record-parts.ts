/** The parts of a record that ready-made conditions (`never`) and searches read. */
export const recordParts = [
  'tags',
  'brands',
  'groups',
  'pipelines',
  'channels',
  /** The company's people who handled the record. */
  'agents',
  /** When the record was opened, ISO 8601: handling time runs from then to the closing. */
  'openedAt',
  /** The number of agents' replies: 0 is none; an empty value is unknown. */
  'replies',
  /** Every address of the customer: e-mail addresses, phone numbers. A person's journeys are found by each of them. */
  'customer',
] as const;
export type RecordPart = (typeof recordParts)[number];

/**
 * Where a connector's records hold these parts: paths over `shape`, like `ticket.group.name`. All values of all paths count, so that rules can
 * use a name or an id. Left out: the connector does not know the part.
 */
export type RecordParts = Readonly<Partial<Record<RecordPart, readonly string[]>>>;
