import { isIP } from 'node:net';
import { z } from 'zod';

/** An IP address, or a range of IP addresses as address/bits. */
export const AddressRange = z.string().refine((text) => {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isPrefix && more.length === 0;
}, 'must be an address like 10.0.0.7, or a range like 10.0.0.0/8');
