import { refusal } from '../../../core/errors.ts';
import type { Flaw, LiveFlaw } from './flaws.ts';
import type { Person } from './person.ts';

interface Question {
  /** The question's flag, without `--`. */
  flag: string;
  ask: string;
  /** The default answer. Left out: an answer is required. */
  initial?: string | undefined;
  /** Finds what is wrong with an answer. `init` shows it, and asks again. */
  flaw?: Flaw | LiveFlaw | undefined;
}

interface Choice extends Question {
  options: readonly { value: string; name: string }[];
}

/** Answers, from flags and the environment, else from a person at the terminal, else the default. */
export class Answers {
  readonly person: Person | undefined;
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #env: Readonly<Record<string, string | undefined>>;
  /** Takes the default answer where there is one, without asking. */
  readonly #takesInitial: boolean;
  readonly #missing = new Set<string>();
  /** The wrong answers, if there is nobody who can be asked again. */
  readonly #wrong: string[] = [];

  /** @param given the flags as commander has them */
  constructor(
    given: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string | undefined>>,
    person: Person | undefined,
  ) {
    this.#given = given;
    this.#env = env;
    this.person = person;
    this.#takesInitial = person === undefined || given.yes === true;
  }

  /** Whether a person can be asked, also about questions with a default. */
  get asks(): boolean {
    return !this.#takesInitial;
  }

  given(flag: string): string | undefined {
    const value = this.#given[camel(flag)];
    return typeof value === 'string' ? value : undefined;
  }

  known(variable: string): string | undefined {
    return this.#env[variable] || undefined;
  }

  async text({ flag, ask, initial, flaw }: Question): Promise<string> {
    const given = this.given(flag);
    if (given === undefined && initial !== undefined && this.#takesInitial) return initial;
    return (await this.#taken(`--${flag}`, given, flaw)) ?? (await this.again({ ask, initial, flaw }));
  }

  /** Asks a person, also if there was an answer before: `initial`. */
  async again({ ask, initial, flaw }: Omit<Question, 'flag'>): Promise<string> {
    return await this.#asked((person) => person.ask(`${ask}${hint(initial)}: `), initial, flaw);
  }

  /** Never a flag: other users of the machine see those. */
  async secret(question: { variable: string; ask: string; flaw?: Flaw | undefined }): Promise<string> {
    const { variable, flaw } = question;
    const known = await this.#taken(`the environment variable ${variable}`, this.known(variable), flaw);
    return known ?? (await this.secretAgain(question));
  }

  /** @param before the earlier answer, which stays where nothing is typed */
  async secretAgain({ ask, flaw, before }: { ask: string; flaw?: Flaw | undefined; before?: string }): Promise<string> {
    const keeps = before === undefined ? '' : '; Enter keeps it';
    return await this.#asked((person) => person.askHidden(`${ask} (not shown${keeps}): `), before, flaw);
  }

  /** The answer that was given before, or the default if nobody can be asked; undefined: ask the person. */
  async #taken(what: string, given: string | undefined, flaw: Question['flaw']): Promise<string | undefined> {
    if (given !== undefined && !this.#isRefused(what, await flaw?.(given))) return given;
    return this.person ? undefined : (given ?? this.#noteMissing(what));
  }

  /** Asks until the answer is good. @param initial the answer where nothing is typed */
  async #asked(
    ask: (person: Person) => Promise<string>,
    initial: string | undefined,
    flaw: Question['flaw'],
  ): Promise<string> {
    for (;;) {
      const answer = (this.person && (await ask(this.person))) || initial;
      if (answer !== undefined && !this.#isRefused(undefined, await flaw?.(answer))) return answer;
    }
  }

  /** Says what is wrong: to the person, or at the end of all questions where there is none. */
  #isRefused(what: string | undefined, flaw: string | undefined): boolean {
    if (flaw === undefined) return false;
    const told = what === undefined ? flaw : `${what}: ${flaw}`;
    if (this.person) this.person.say(`  ${told}`);
    else this.#wrong.push(told);
    return true;
  }

  /** One of these, by value or by number in the list; any text where `isFree`. */
  async choose({ isFree = false, ...question }: Choice & { isFree?: boolean }): Promise<string> {
    const { flag, initial, options } = question;
    const given = this.given(flag);
    const isUnknown: Flaw = (one) => unknownIn([one], options);
    const taken = given === undefined ? undefined : await this.#taken(`--${flag}`, given, isUnknown);
    if (taken !== undefined) return taken;
    if (!this.person || (initial !== undefined && this.#takesInitial)) return await this.text(question);
    this.#show(question);
    for (;;) {
      const answer = (await this.person.ask(`Number${hint(initial)}: `)) || initial;
      if (answer === undefined) continue;
      const value = optionOf(answer, options);
      if (value === initial || isOne(value, options)) return value;
      const flaw = isFree ? await question.flaw?.(value) : notListed(value, options);
      if (!this.#isRefused(undefined, flaw)) return value;
    }
  }

  /** Lets a person choose several options, separated by commas. */
  async chooseSome(question: Choice): Promise<string[]> {
    const listed = (text: string) => text.split(',').map((one) => optionOf(one.trim(), question.options));
    const given = this.given(question.flag);
    if (given !== undefined) {
      const values = given.split(',').map((one) => one.trim());
      const flaw = unknownIn(values, question.options);
      if (!this.#isRefused(`--${question.flag}`, flaw) || !this.person) return values;
    }
    if (!this.person) {
      this.#noteMissing(`--${question.flag}`);
      return [];
    }
    this.#show(question);
    for (;;) {
      const values = listed(await this.person.ask('Numbers, separated by commas: '));
      const unknown = values.find((value) => !isOne(value, question.options));
      if (!this.#isRefused(undefined, unknown === undefined ? undefined : notListed(unknown, question.options)))
        return [...new Set(values)];
    }
  }

  /** Says what is wrong with flags: to a person who is asked in their place, else with all that is wrong. */
  tell(flaws: readonly string[]): void {
    for (const flaw of flaws) {
      if (this.asks) this.person?.say(`  ${flaw}`);
      else this.#wrong.push(flaw);
    }
  }

  /** @throws CloseloopError config that names every flag and variable that is missing or wrong */
  complete(): void {
    if (!this.person && this.#given.yes !== true) this.#missing.add('--yes (to create what is missing at the vendor)');
    const missing = [...this.#missing].join(', ');
    const all = [
      ...(missing === '' ? [] : [`Nobody can be asked here, as standard input is no terminal. Missing: ${missing}.`]),
      ...this.#wrong,
    ];
    if (all.length > 0) throw refusal(all.join('\n'));
  }

  #noteMissing(what: string): string {
    this.#missing.add(what);
    return '';
  }

  #show({ ask, options }: Choice): void {
    this.person?.say(`${ask}:`);
    for (const [i, { name }] of options.entries()) this.person?.say(`  ${i + 1}  ${name}`);
  }
}

/** `--client-id` as commander names it. */
const camel = (flag: string): string => flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const hint = (initial: string | undefined): string => (initial === undefined ? '' : ` [${initial || 'none'}]`);

function isOne(value: string, options: Choice['options']): boolean {
  return options.some((option) => option.value === value);
}

function optionOf(answer: string, options: Choice['options']): string {
  return options[Number(answer) - 1]?.value ?? answer;
}

function unknownIn(values: readonly string[], options: Choice['options']): string | undefined {
  const unknown = values.find((value) => !isOne(value, options));
  if (unknown === undefined) return undefined;
  return `there is no ${unknown}; there are: ${options.map(({ value }) => value).join(', ')}`;
}

const notListed = (value: string, options: Choice['options']): string =>
  `There is no ${value || 'answer without a number'}: 1 to ${options.length}, or a name of the list.`;
