import { z } from 'zod';
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

/** The list as given; an option that was there, by id or tag, keeps its id. @throws Problem 422 */
export function replaceOptions({ store }: Context, held: readonly Option[], given: readonly GivenOption[]): Option[] {
  if (new Set(given.map(({ value }) => value)).size < given.length) throw taken();
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
): { option: Option; isNew: boolean } {
  const before = held.find((one) => one.id === id);
  if (held.some((one) => one.value === value && one !== before)) throw taken();
  if (before !== undefined) return { option: Object.assign(before, { name, value }), isNew: false };
  if (held.length >= 2_000) throw invalid('Custom field options: too many', 'TooLong');
  const option = { id: store.nextId(), name, value };
  held.push(option);
  return { option, isNew: true };
}

/** A dropdown can't be without options. @throws Problem 422 */
export function needOptions(isChoice: boolean, given: readonly object[]): void {
  if (isChoice && given.length === 0) throw invalid('Custom field options: cannot be blank', 'BlankValue');
}

const taken = () => invalid('Custom field options: tag has already been taken', 'DuplicateValue');
const invalid = (description: string, error: string) =>
  recordInvalid({ custom_field_options: [{ description, error }] });
