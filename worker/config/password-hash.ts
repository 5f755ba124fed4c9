import { z } from 'zod';

/** What is kept of a password: what scrypt makes of it. */
export interface PasswordHash {
  /** As written. */
  text: string;
  /** Logarithm of scrypt's cost, and how often that is done. */
  ln: number;
  p: number;
  salt: Buffer;
  key: Buffer;
}

/** Of 16 and 32 bytes, in base64 without "=". */
const form = /^\$scrypt\$ln=(1[4-8]),r=8,p=([1-8])\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** In the PHC string format. The message quotes nothing: somebody may have written the password itself. */
export const WrittenPasswordHash = z
  .string()
  .regex(form, 'must be a line that "closeloop dashboard password" prints, never the password itself')
  .transform(parsed);

/** As the configuration has it. */
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
