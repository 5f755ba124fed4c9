/**
 * The words of validation messages that an error may repeat. The service's messages may quote refused values, such as a contact
 * or a comment, so all other words are left out.
 */
const words = new Set(
  `a an and any are as at available be been before after between blank boolean both by can cannot character characters choice
  choices chosen contact contain contains date dates datetime day days decimal digit digits do does doesn't each either email
  empty ensure enter equal equals exist exists expected exceed exceeds expired false field fields file following for format
  formats from future given greater has have hour hours id identifier in incorrect instead integer invalid is isn't it item
  items its key language least length less letter letters list long longer match matches max maximum may min minimum minutes
  missing month more most must name negative no not null number numbers numeric object of on one only option options or out
  parameter past phone place places please point positive primary provide provided range read received recognised recognized
  required same scheduled select should short shorter single space spaces string supported supplied text than that the there
  these this those time timezone to too true type unexpected unique unknown unsupported url use valid value values was were
  whitespace with within wrong year years you zone allowed accepted blacklisted already campaign custom active`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

const fewest = 3;
const longest = 200;

/** A validation message without the values in it: "Select a valid choice. … is not one of …". Undefined where too little is left. */
export function shownMessage(message: string): string | undefined {
  const parts = message
    .slice(0, longest)
    .replaceAll(/"[^"]*"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)/g, ' … ')
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part, i, all) => (isHarmless(part, all[i - 1]) ? part : '…'));
  const shown = parts.filter((part, i) => part !== '…' || parts[i - 1] !== '…');
  const known = parts.filter((part) => part !== '…').length;
  return known < fewest || parts.length > 2 * known ? undefined : shown.join(' ').replace(/[.:,;!]+$/, '');
}

/** Before a limit: "no more than 100 characters". Any other number may be part of a phone number or of an order's. */
const beforeLimit = /^(?:than|to|least|most|exceeds?|between|exactly)$/i;

function isHarmless(part: string, before = ''): boolean {
  const bare = part.toLowerCase().replaceAll(/^[(]+|[).,:;!?]+$/g, '');
  return words.has(bare.replace('’', "'")) || (/^\d{1,4}$/.test(bare) && beforeLimit.test(before));
}
