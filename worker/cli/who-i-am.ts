import { hostname, userInfo } from 'node:os';

/** The name of the person who runs this command, as other people see it. In a container the user may have no name. */
export function whoIAm(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `${process.getuid?.() ?? 'somebody'}@${hostname()}`;
  }
}
