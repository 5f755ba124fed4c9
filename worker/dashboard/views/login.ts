import { loginAt } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { csrfField } from './forms.ts';

interface Login {
  csrf: string;
  /** The address that the person goes to after the login. */
  to: string;
  /** The name that the person typed in the failed attempt. */
  name?: string;
  /** Why the attempt failed. */
  wrong?: string;
}

export function loginView({ csrf, to, name = '', wrong }: Login): Html {
  return html`${wrong !== undefined && html`<p class="notice bad" role="alert" id="wrong">${wrong}</p>`}
<form class="login" method="post" action="${loginAt(to)}">
${csrfField(csrf)}
<label for="name">Name</label>
<input id="name" name="name" value="${name}" required maxlength="64" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="1000" autocomplete="current-password">
<p class="actions"><button class="main-button">Log in</button></p>
</form>`;
}

export function logoutView(csrf: string): Html {
  return html`<p>This browser sees nothing more of it until somebody logs in again.</p>
<form method="post" action="/logout">
${csrfField(csrf)}
<p class="actions"><button class="main-button">Log out</button> <a class="button" href="/">Back</a></p>
</form>`;
}
