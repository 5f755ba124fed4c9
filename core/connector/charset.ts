import { isUtf8 } from 'node:buffer';

const isUtf8Name = /^(?:utf-?8|(?:us-)?ascii)$/i;

interface Declared {
  contentType: string;
  /** Whether the end was cut off, perhaps within a character. */
  isPart: boolean;
}

/**
 * Converts a text to UTF-8 from the character set that its content type names; without a name JSON is in UTF-8 (RFC 8259). In a wrong set a
 * person's name would become another name, so data has to be valid. HTML pages hold no data, and are decoded as well as possible.
 * @returns a string if the text can't be read: why, without quoting the text
 */
export function inUtf8(body: Uint8Array, { contentType, isPart }: Declared): Uint8Array | string {
  const name = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1];
  const isData = !isPart && !/\bhtml\b/i.test(contentType);
  if (name === undefined || isUtf8Name.test(name)) {
    const isBroken = isData && /\bjson\b/i.test(contentType) && !isUtf8(body);
    return isBroken ? 'is JSON but not in UTF-8' : body;
  }
  const decoder = decoderOf(name, isData);
  if (decoder === undefined) return isData ? `is in an unknown character set (${name})` : body;
  try {
    return Buffer.from(decoder.decode(body));
  } catch {
    return `is not in the character set that it names (${name})`;
  }
}

function decoderOf(name: string, fatal: boolean): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(name, { fatal });
  } catch {
    return undefined;
  }
}
