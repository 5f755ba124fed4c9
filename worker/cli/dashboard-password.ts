import { text } from 'node:stream/consumers';
import { refusal } from '../../core/errors.ts';
import { hashPassword, normalized } from '../dashboard/password.ts';
import { type Person, personAt } from './init/person.ts';

/** The shortest password, by NIST SP 800-63B-4 for a login without a second factor. */
const shortest = 15;

/** Prints the hash of a password. A person at the terminal types the password twice; otherwise standard input holds it. */
export async function dashboardPassword(input: NodeJS.ReadStream): Promise<number> {
  const person = personAt(input, process.stderr);
  try {
    const password = normalized(person ? await typed(person) : await text(input));
    if ([...password].length < shortest)
      throw refusal(`It has to have ${shortest} characters or more: four words do. Nothing was printed.`);
    const hash = await hashPassword(password);
    // A person pastes it into YAML, where its commas end a value without quotes. A script puts it into a variable.
    process.stdout.write(process.stdout.isTTY ? `'${hash}'\n` : `${hash}\n`);
    return 0;
  } finally {
    person?.close();
  }
}

async function typed(person: Person): Promise<string> {
  const password = await person.askHidden('Password (not shown): ');
  if (password !== (await person.askHidden('Again: ')))
    throw refusal('These were two different passwords. Nothing was printed.');
  return password;
}
