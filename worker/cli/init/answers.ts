import { CloseloopError } from '../../../core/errors.ts';
import type { Person } from './person.ts';

interface Question {
  /** The question's flag, without `--`. */
  flag: string;
  ask: string;
  /** The default answer. Left out: an answer is required. */
  initial?: string | undefined;
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

  async text({ flag, ask, initial }: Question): Promise<string> {
    const given = this.given(flag);
    if (given !== undefined) return given;
    if (initial !== undefined && this.#takesInitial) return initial;
    if (!this.person) return this.#noteMissing(`--${flag}`);
    for (;;) {
      const answer = (await this.person.ask(`${ask}${hint(initial)}: `)) || initial;
      if (answer !== undefined) return answer;
    }
  }

  /** Never a flag: other users of the machine see those. */
  async secret({ variable, ask }: { variable: string; ask: string }): Promise<string> {
    const known = this.known(variable);
    if (known !== undefined) return known;
    if (!this.person) return this.#noteMissing(`the environment variable ${variable}`);
    for (;;) {
      const answer = await this.person.askHidden(`${ask} (not shown): `);
      if (answer !== '') return answer;
    }
  }

  /** One of these, by value or by number in the list; any text where `isFree`. */
  async choose({ isFree = false, ...question }: Choice & { isFree?: boolean }): Promise<string> {
    const { flag, initial, options } = question;
    const given = this.given(flag);
    if (given !== undefined) refuseUnknown([given], question);
    if (given !== undefined || !this.person || (initial !== undefined && this.#takesInitial))
      return await this.text(question);
    this.#show(question);
    for (;;) {
      const answer = (await this.person.ask(`Number${hint(initial)}: `)) || initial;
      if (answer === undefined) continue;
      const value = optionOf(answer, options);
      if (isFree || value === initial || isOne(value, options)) return value;
    }
  }

  /** Some of these, separated by commas. */
  async chooseSome(question: Choice): Promise<string[]> {
    const listed = (text: string) => text.split(',').map((one) => optionOf(one.trim(), question.options));
    const given = this.given(question.flag);
    if (given !== undefined) {
      const values = given.split(',').map((one) => one.trim());
      refuseUnknown(values, question);
      return values;
    }
    if (!this.person) {
      this.#noteMissing(`--${question.flag}`);
      return [];
    }
    this.#show(question);
    for (;;) {
      const values = listed(await this.person.ask('Numbers, separated by commas: '));
      if (values.every((value) => isOne(value, question.options))) return [...new Set(values)];
    }
  }

  /** @throws CloseloopError config that names every flag and variable that is missing */
  complete(): void {
    if (!this.person && this.#given.yes !== true) this.#missing.add('--yes (to create what is missing at the vendor)');
    if (this.#missing.size === 0) return;
    const missing = [...this.#missing].join(', ');
    throw new CloseloopError(`Nobody can be asked here, as standard input is no terminal. Missing: ${missing}.`, {
      kind: 'config',
    });
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

function refuseUnknown(values: readonly string[], { flag, options }: Choice): void {
  const unknown = values.find((value) => !isOne(value, options));
  if (unknown === undefined) return;
  const names = options.map(({ value }) => value).join(', ');
  throw new CloseloopError(`--${flag}: there is no ${unknown}; there are: ${names}.`, { kind: 'config' });
}
