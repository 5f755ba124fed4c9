/** The value of a table under a name that comes from outside. Properties that every object inherits (`constructor`, `__proto__`) don't count. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
