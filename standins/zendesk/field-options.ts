import { z } from 'zod';
import type { Admin } from './admin.ts';
import type { Context } from './context.ts';
import { recordInvalid } from './problem.ts';

export interface Option {
  id: number;
  name: string;
  value: string;
}

export const optionBody = z.object({
  id: z.number().int().nullish(),
  name: z.string().min(1),
  value: z.string().regex(/^\S+$/),
});
type GivenOption = z.output<typeof optionBody>;

/** `raw_name` and the like are shown and not taken. */
export const options = z.array(optionBody);

/**
 * Tags that options and checkboxes of other fields have, of tickets and of users: no option may have one of them.
 * Records of custom objects have no tags.
 */
export function tagsBesides({ store }: Context, held?: readonly Option[]): ReadonlySet<string> {
  const tickets = [...store.fields.values()];
  const others = [...tickets, ...store.admin.userFields.values()].filter((field) => field.options !== held);
  return new Set([
    ...others.flatMap((field) => field.options.map(({ value }) => value)),
    ...tickets.flatMap(({ tag }) => tag ?? []),
  ]);
}

/** The list as given; an option that was there, by id or tag, keeps its id. @throws Problem 422 */
export function replaceOptions(
  { store }: Context,
  held: readonly Option[],
  given: readonly GivenOption[],
  besides: ReadonlySet<string> = new Set(),
): Option[] {
  if (new Set(given.map(({ value }) => value)).size < given.length) throw taken();
  if (given.some(({ value }) => besides.has(value))) throw taken();
  if (given.length > 2_000) throw invalid('Custom field options: too many', 'TooLong');
  return given.map(({ id, name, value }) => {
    const before = held.find((one) => one.id === id) ?? held.find((one) => one.value === value);
    return { id: before?.id ?? store.nextId(), name, value };
  });
}

/** Changes the option of that id, or adds one. @throws Problem 422 for a tag that another option has */
export function addOption(
  { store }: Context,
  held: Option[],
  { id, name, value }: GivenOption,
  besides: ReadonlySet<string>,
): { option: Option; isNew: boolean } {
  const before = held.find((one) => one.id === id);
  if (besides.has(value) || held.some((one) => one.value === value && one !== before)) throw taken();
  if (before !== undefined) return { option: Object.assign(before, { name, value }), isNew: false };
  if (held.length >= 2_000) throw invalid('Custom field options: too many', 'TooLong');
  const option = { id: store.nextId(), name, value };
  held.push(option);
  return { option, isNew: true };
}

/** `name` in the caller's language, `raw_name` as it was given. */
export function viewOptions(options: readonly Option[], { dynamicContent }: Admin): object[] {
  return options.map(({ id, name, value }, position) => {
    const shown = name.replace(/\{\{dc\.(\w+)\}\}/g, (raw, key: string) => dynamicContent.get(key) ?? raw);
    return { id, name: shown, raw_name: name, position, value };
  });
}

/** A dropdown can't be without options. @throws Problem 422 */
export function needOptions(isChoice: boolean, given: readonly object[]): void {
  if (isChoice && given.length === 0) throw invalid('Custom field options: cannot be blank', 'BlankValue');
}

const taken = () => invalid('Custom field options: tag has already been taken', 'DuplicateValue');
const invalid = (description: string, error: string) =>
  recordInvalid({ custom_field_options: [{ description, error }] });
