/** All documentation pages that `npm run docs:tables` writes. */
import { planTemplateCreate } from '../../api/templates/schema.ts';
import { CONCEPTS_FILE, withPictures } from '../../tools/docs/concepts.ts';
import { page, pages, type Page } from '../../tools/docs/pages.ts';
import { chainInfo } from '../simulators/chain/accounts.ts';
import { starterTemplates } from '../stack/starter-templates.ts';

const DRAWN = 'starter/withdraw-with-gate';

export function allPages(): readonly Page[] {
  // Port 0 is enough: the drawing does not show the chain's URL.
  const template = starterTemplates(chainInfo(0)).find((each) => each.template_key === DRAWN);
  const drawn = planTemplateCreate.parse(template);
  return [...pages(), page(CONCEPTS_FILE, (is) => withPictures(is, drawn))];
}
