/**
 * The smallest page that uses signing.js: enrols an operator, lists, allows, revokes and
 * reactivates addresses.
 */
import { enrol, enrolled, forget, write } from './signing.js';

const ROWS = '/dashboard/allowed-addresses';
const byId = (id) => document.getElementById(id);
const say = (text) => (byId('status').textContent = text);

let writer = await enrolled();

async function show() {
  say(writer === null ? 'no operator is enrolled' : `signs as ${writer.operator}`);
  const answer = await fetch(`${ROWS}?include_inactive=true&limit=200`, { cache: 'no-store' });
  const { allowed_addresses: rows } = await answer.json();
  byId('rows').replaceChildren(...rows.map(line));
}

/** Text is set as text, never as markup: labels and addresses were written by others. */
function line(row) {
  const cells = [
    row.chain_family,
    row.address,
    row.chain_id ?? 'all',
    row.active ? 'active' : 'revoked',
  ].map((text) => {
    const cell = document.createElement('td');
    cell.textContent = text;
    return cell;
  });
  const verb = row.active ? 'revoke' : 'reactivate';
  const button = document.createElement('button');
  button.textContent = verb;
  button.addEventListener('click', () =>
    change(`${ROWS}/${row.id}/${verb}`, { reason: `${verb} on the dashboard` }),
  );
  const last = document.createElement('td');
  last.append(button);
  const whole = document.createElement('tr');
  whole.id = `row-${row.id}`;
  whole.append(...cells, last);
  return whole;
}

async function change(path, content) {
  if (writer === null) return say('no operator is enrolled');
  const { status, body } = await write(writer, path, content);
  await show();
  say(
    status === 200
      ? [body.outcome, ...body.warnings.map(({ message }) => message)].join('; ')
      : `refused: ${body.detail.error}`,
  );
}

byId('enrol').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { operator, secret } = Object.fromEntries(new FormData(event.target));
  // The field is emptied before anything is waited for: the text stays in no part of the page.
  event.target.reset();
  writer = await enrol(operator, secret);
  await show();
});

byId('add').addEventListener('submit', async (event) => {
  event.preventDefault();
  await change(ROWS, Object.fromEntries(new FormData(event.target)));
});

byId('forget').addEventListener('click', async () => {
  await forget();
  writer = null;
  await show();
});

await show();
