import { type InstantReader, instantReader, time } from './request-form.ts';

/**
 * Reads instants as texts in the form of JSON. The slow part is the hour in UTC: it is calculated once for successive instants
 * with the same hour and offset, if their minutes are the same in UTC.
 */
export function instantTextReader(): InstantReader<string> {
  const instantOf = instantReader();
  let [hour, offset, shown] = ['', '', ''];
  return (value) => {
    if (typeof value !== 'string') return value === undefined || value === null ? null : undefined;
    if (hour !== '' && value.startsWith(hour) && value.endsWith(offset) && time.test(value)) {
      // V8 copies short texts when it joins them, but makes a tree of long texts, which is slower to read: so only one long text is joined here.
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
