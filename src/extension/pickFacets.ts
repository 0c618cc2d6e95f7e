import * as vscode from 'vscode';
import { choiceOf, valuesOfFacets, wordOfValue, type Choice, type Facet, type FacetValue } from './facets.js';
import { pickMany } from './quickPick.js';
import { t } from './translate.js';

/** Lets the user choose what a list shows; undefined where they left without an answer. */
export async function pickFacets<Thing>(
  title: string,
  facets: readonly Facet<Thing>[],
  things: readonly Thing[],
  choice: Choice,
): Promise<Choice | undefined> {
  type Item = vscode.QuickPickItem & { readonly facetValue?: FacetValue };
  const items: Item[] = [];
  const values = valuesOfFacets(facets, things, choice);
  for (const facet of facets) {
    const own = values.filter((one) => one.facet === facet.id);
    if (own.length > 0) items.push({ label: facet.title(), kind: vscode.QuickPickItemKind.Separator });
    for (const facetValue of own) {
      items.push({
        label: wordOfValue(facet, facetValue.value),
        description: `${facet.title()} · ${facetValue.count}`,
        picked: choice.get(facet.id)?.has(facetValue.value) ?? false,
        facetValue,
      });
    }
  }
  const picked = await pickMany(items, {
    title,
    matchOnDescription: true,
    placeHolder: t('Choose what to show; nothing chosen shows everything'),
  });
  return picked && choiceOf(picked.flatMap(({ facetValue }) => (facetValue ? [facetValue] : [])));
}
