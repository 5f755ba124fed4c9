import { type InstantReader, instantReader, time } from './request-form.ts';

/**
 * Gives instants as JSON shows them. Which hour an instant is of in UTC takes longest to find out: that is done once for instants in a row
 * that are of one hour and offset, and where they are shown with the same minutes in UTC.
 */
export function instantTextReader(): InstantReader<string> {
  const instantOf = instantReader();
  let [hour, offset, shown] = ['', '', ''];
  return (value) => {
    if (typeof value !== 'string') return value === undefined || value === null ? null : undefined;
    if (hour !== '' && value.startsWith(hour) && value.endsWith(offset) && time.test(value)) {
      // V8 copies short texts that are added up, and makes a tree of long ones, which takes longer to read: one long text in the end.
      const end = `${value.slice(13, 19)}${value[19] === '.' ? value.slice(19, 23) : '.000'}Z`;
      return shown + end;
    }
    const text = instantOf(value)?.toISOString();
    const isWhole = text?.slice(-11, -5) === value.slice(13, 19);
    [hour, offset] = isWhole ? [value.slice(0, 13), value.endsWith('Z') ? 'Z' : value.slice(-6)] : ['', ''];
    shown = text?.slice(0, -11) ?? '';
    return text;
  };
}
