import { z } from 'zod';

/** A password's scrypt hash, which the configuration stores in place of the password. */
export interface PasswordHash {
  /** The hash as the configuration has it. */
  text: string;
  /** scrypt's parameters: the logarithm of its cost, and its parallelization. */
  ln: number;
  p: number;
  salt: Buffer;
  key: Buffer;
}

/** 16 bytes of salt and 32 bytes of hash, both in base64 without "=". */
const form = /^\$scrypt\$ln=(1[4-8]),r=8,p=([1-8])\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** The PHC string format. The error message quotes nothing, as a person may have written the password itself. */
export const WrittenPasswordHash = z
  .string()
  .regex(form, 'must be a line that "closeloop dashboard password" prints, never the password itself')
  .transform(parsed);

/** Writes the hash as the configuration holds it. */
export function passwordHashText({ ln, p, salt, key }: Omit<PasswordHash, 'text'>): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${ln},r=8,p=${p}$${text(salt)}$${text(key)}`;
}

function parsed(text: string): PasswordHash {
  const [, ln, p, salt = '', key = ''] = form.exec(text) ?? [];
  return {
    text,
    ln: Number(ln),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}
